import { sql } from '@svc/store';
import type { TestDatabase } from '@svc/store/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serverDatabase } from '../../testing/database.ts';
import { endRelays } from './outcome.ts';
import { nextStates, type RelayState } from './relay.ts';
import { lockState, markSent, reopen } from './relay-store.ts';

const states = Object.keys(nextStates) as RelayState[];
const ended = states.filter((state) => nextStates.STORED.includes(state) && state !== 'SENT');
const pairs = states.flatMap((from) => ended.map((to) => [from, to] as const));

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

const isOpen = (state: RelayState) => state === 'STORED' || state === 'SENT';
const nothing = { hash: undefined, revertReason: undefined, block: undefined, fee: 0n };

describe('the states of a relay', () => {
  it.each(pairs)('from %s to %s: an end only of what is open', async (from, result) => {
    const { db } = database;
    const relayId = await relayIn(from);
    await db.tx((tx) => endRelays(tx, [{ relayId, result, ...nothing }]));
    expect(await db.tx((tx) => lockState(tx, relayId))).toBe(isOpen(from) ? result : from);
  });

  it('end of several at once, of each its own way', async () => {
    const { db } = database;
    const ids = await Promise.all(states.map(relayIn));
    const ends = ids.map((relayId, index) => ({
      relayId,
      result: ended[index % ended.length] ?? 'VOIDED',
      ...nothing,
    }));
    await db.tx((tx) => endRelays(tx, ends));
    const expected = states.map((state, index) => (isOpen(state) ? ends[index]?.result : state));
    expect(await Promise.all(ids.map((id) => db.tx((tx) => lockState(tx, id))))).toEqual(expected);
  });

  it.each(states)('from %s: a node that takes it changes only what is stored', async (from) => {
    const { db } = database;
    const id = await relayIn(from);
    await markSent(db, 1n, [{ id, hash: 1n }]);
    expect(await db.tx((tx) => lockState(tx, id))).toBe(from === 'STORED' ? 'SENT' : from);
  });

  it.each(states)('from %s: a reorganisation opens only what has ended', async (from) => {
    const { db } = database;
    const id = await relayIn(from);
    await db.tx((tx) => reopen(tx, 1n, sql`id = ${id}`));
    expect(await db.tx((tx) => lockState(tx, id))).toBe(isOpen(from) ? from : 'SENT');
  });
});
