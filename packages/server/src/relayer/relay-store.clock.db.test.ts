import { sql } from '@svc/store';
import type { TestDatabase } from '@svc/store/testing';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { serverDatabase } from '../../testing/database.ts';
import { databaseTime } from './relay-store.ts';

const HOUR_MS = 3_600_000;

let database: TestDatabase;
beforeAll(async () => {
  database = await serverDatabase();
});
afterAll(() => database.drop());

const databaseNow = async () =>
  (await database.db.one<{ at: Date }>(sql`select now() as at`))?.at.getTime() ?? Number.NaN;

describe('the present time', () => {
  it('is that of the database, however wrong the clock of this process is', async () => {
    const before = await databaseNow();
    const { now } = Date;
    const spy = vi.spyOn(Date, 'now').mockImplementation(() => now() + 5 * HOUR_MS);
    onTestFinished(() => spy.mockRestore());
    const at = (await databaseTime(database.db.reads)).getTime();
    expect(at).toBeGreaterThanOrEqual(before);
    expect(at).toBeLessThan(before + HOUR_MS);
  });

  it('moves with a clock that is set ahead', async () => {
    const at = (await databaseTime(database.db.reads, () => Date.now() + HOUR_MS)).getTime();
    expect(at - (await databaseNow())).toBeGreaterThan(HOUR_MS / 2);
  });
});
