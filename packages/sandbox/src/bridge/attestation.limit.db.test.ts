import { TestDatabase } from '@svc/store/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sandbox } from '../index.ts';
import { admitRequest } from './attestation.ts';

const T = 1_800_000_000;
let database: TestDatabase;
beforeEach(async () => {
  database = await TestDatabase.create([sandbox.migrations]);
});
afterEach(() => database.drop());

async function admitted(requests: number, second: number): Promise<number> {
  const answers = await Promise.all(Array.from({ length: requests }, () => admitRequest(database.db, 35, second)));
  return answers.filter((yes) => yes).length;
}

describe('the limit of requests', () => {
  it('lets 35 a second through, second after second', async () => {
    for (const second of [T, T + 1, T + 2]) expect(await admitted(35, second)).toBe(35);
  });

  it('blocks everything for five minutes from the 36th on', async () => {
    expect(await admitted(50, T)).toBe(35);
    expect(await admitted(1, T + 1)).toBe(0);
    expect(await admitted(1, T + 299)).toBe(0);
    expect(await admitted(36, T + 300)).toBe(35);
  });

  it('forgets a block when the clock is set back to before it', async () => {
    await admitted(36, T);
    expect(await admitted(1, T - 1)).toBe(1);
  });
});
