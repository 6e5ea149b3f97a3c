import { sandbox } from '@svc/sandbox';
import { createTestDatabase, type TestDatabase } from '@svc/store/testing';
import { serverMigrations } from '../src/database.ts';

/** A database of its own for a test file, with everything that the service keeps in one. */
export function serverDatabase(): Promise<TestDatabase> {
  return createTestDatabase([serverMigrations, sandbox.migrations]);
}
