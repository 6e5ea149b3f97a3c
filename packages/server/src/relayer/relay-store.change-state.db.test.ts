import { sql } from '@svc/store';
import type { TestDatabase } from '@svc/store/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serverDatabase } from '../../testing/database.ts';
import { nextStates, type RelayState } from './relay.ts';
import { changeState, lockState } from './relay-store.ts';

const states = Object.keys(nextStates) as RelayState[];
const pairs = states.flatMap((from) => states.map((to) => [from, to] as const));

let database: TestDatabase;
beforeAll(async () => {
  database = await serverDatabase();
});
afterAll(() => database.drop());

async function relayIn(state: RelayState): Promise<string> {
  const row = await database.db.one<{ id: string }>(sql`
    insert into relays (id, environment, chain_id, kind, purpose, message_hash, wallet, not_after, content, state)
    values (gen_random_uuid(), 'development', '0x1', 'calls', gen_random_uuid(), '0x1', '0x1', now(), '{}', ${state})
    returning id`);
  return row?.id ?? '';
}

const allowed = new Set([
  'STORED SENT',
  'STORED SUCCEEDED',
  'STORED REVERTED',
  'STORED VOIDED',
  'SENT SUCCEEDED',
  'SENT REVERTED',
  'SENT VOIDED',
  'SUCCEEDED SENT',
  'REVERTED SENT',
  'VOIDED SENT',
]);

describe('the states of a relay', () => {
  it.each(pairs)('from %s to %s: only where a way leads', async (from, to) => {
    const { db } = database;
    const id = await relayIn(from);
    const may = allowed.has(`${from} ${to}`);
    expect(await db.tx((tx) => changeState(tx, id, { from, to }))).toBe(may);
    expect(await db.tx((tx) => lockState(tx, id))).toBe(may ? to : from);
  });

  it.each(pairs.filter(([from, to]) => allowed.has(`${from} ${to}`)))(
    'the step from %s to %s is not taken by a relay that stands elsewhere',
    async (from, to) => {
      const { db } = database;
      for (const other of states.filter((state) => state !== from)) {
        const id = await relayIn(other);
        expect(await db.tx((tx) => changeState(tx, id, { from, to }))).toBe(false);
        expect(await db.tx((tx) => lockState(tx, id))).toBe(other);
      }
    },
  );
});
