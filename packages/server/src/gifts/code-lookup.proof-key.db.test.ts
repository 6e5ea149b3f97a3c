import { expect, it } from 'vitest';
import { useDatabase } from '../../testing/database.ts';
import { proofKey } from './code-lookup.ts';

const database = useDatabase();

it('is one key for all processes, also when they start at once', async () => {
  const keys = await Promise.all(Array.from({ length: 5 }, () => proofKey(database.db())));
  expect(new Set(keys.map((key) => Buffer.from(key).toString('hex'))).size).toBe(1);
  expect(keys[0]).toHaveLength(32);
});
