import { expect, it } from 'vitest';
import { useDatabase } from '../../testing/database.ts';
import { deploymentKey } from './deployment-secret.ts';

const database = useDatabase();

it('gives all processes the same key for a purpose, also when they start at once, and another for another purpose', async () => {
  const keys = await Promise.all(Array.from({ length: 5 }, () => deploymentKey(database.db(), 'one')));
  expect(new Set(keys.map((key) => Buffer.from(key).toString('hex'))).size).toBe(1);
  expect(keys[0]).toHaveLength(32);
  expect(await deploymentKey(database.db(), 'other')).not.toEqual(keys[0]);
});
