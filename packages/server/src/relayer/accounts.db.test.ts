import { sql } from '@svc/store';
import type { TestDatabase } from '@svc/store/testing';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { serverDatabase } from '../../testing/database.ts';
import { EMPTY_BALANCE, MAX_OPEN_RELAYS, nextNonces, storeBalance, takeNonces } from './accounts.ts';
import { syncNextNonce } from './unknown-nonces.ts';

const CHAIN = 0x1n;
const [A, B] = ['0xa', '0xb'] as const;
/** More than connections, so that most wait for an account's lock. */
const TAKERS = 60;

let database: TestDatabase | undefined;
afterAll(() => database?.drop());

async function fresh() {
  database ??= await serverDatabase();
  const { db } = database;
  await db.run(sql`delete from relays`);
  await db.run(sql`delete from relayer_accounts`);
  return db;
}

let db: Awaited<ReturnType<typeof fresh>>;
beforeEach(async () => {
  db = await fresh();
});

async function open(account: string, nonce: bigint) {
  await db.run(sql`
    insert into relays (id, environment, chain_id, kind, purpose, message_hash, wallet, not_after, account, nonce, content)
    values (gen_random_uuid(), 'development', '0x1', 'calls', gen_random_uuid(), '0x1', '0x1', now(), ${account}, ${nonce}, '{}')`);
}

const take = () => db.tx((tx) => takeNonces(tx, CHAIN, [A, B], 1n));

describe('nonces', () => {
  it('are given out one after the other, from the account with the least under way', async () => {
    await syncNextNonce(db, CHAIN, A, 5n);
    await syncNextNonce(db, CHAIN, B, 9n);
    await open(A, 4n);
    expect(await take()).toEqual({ account: B, nonce: 9n });
    await open(B, 9n);
    await open(B, 8n);
    expect(await take()).toEqual({ account: A, nonce: 5n });
    expect(await nextNonces(db.reads, CHAIN, [A, B])).toEqual(
      new Map([
        [A, 6n],
        [B, 10n],
      ]),
    );
  });

  it('of two accounts are given out at the same time, and a third taker waits for the first who is done', async () => {
    await syncNextNonce(db, CHAIN, A, 0n);
    await syncNextNonce(db, CHAIN, B, 100n);
    const first = Promise.withResolvers<void>();
    const taken: string[] = [];
    const hold = (until: Promise<void>, done: () => void) =>
      db.tx(async (tx) => {
        const nonce = await takeNonces(tx, CHAIN, [A, B], 1n);
        taken.push(`${nonce?.account} ${nonce?.nonce}`);
        done();
        await until;
      });
    const [one, two] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const holders = [hold(first.promise, one.resolve), one.promise.then(() => hold(first.promise, two.resolve))];
    await two.promise;
    expect(taken).toEqual([`${A} 0`, `${B} 100`]);
    const third = take();
    first.resolve();
    await Promise.all(holders);
    expect([
      { account: A, nonce: 1n },
      { account: B, nonce: 101n },
    ]).toContainEqual(await third);
  });

  it('are each given out once, without a gap, to many who ask at the same time', async () => {
    await syncNextNonce(db, CHAIN, A, 0n);
    await syncNextNonce(db, CHAIN, B, 0n);
    const taken = await Promise.all(Array.from({ length: TAKERS }, take));
    for (const account of [A, B]) {
      const nonces = taken.filter((one) => one?.account === account).map((one) => Number(one?.nonce));
      expect(nonces.sort((one, other) => one - other)).toEqual(nonces.map((_, index) => index));
    }
    expect(taken).not.toContain(undefined);
  });

  it('come back when the transaction that took them does not succeed', async () => {
    await syncNextNonce(db, CHAIN, A, 5n);
    await expect(
      db.tx(async (tx) => {
        await takeNonces(tx, CHAIN, [A], 1n);
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(await take()).toEqual({ account: A, nonce: 5n });
  });

  it('are not given out by an account that has too much under way, or no money', async () => {
    expect(await take()).toBeUndefined();
    await syncNextNonce(db, CHAIN, A, BigInt(MAX_OPEN_RELAYS));
    await open(A, 1n);
    expect(await take()).toEqual({ account: A, nonce: BigInt(MAX_OPEN_RELAYS) });
    expect(await take()).toBeUndefined();
    await syncNextNonce(db, CHAIN, B, 3n);
    await storeBalance(db, CHAIN, B, EMPTY_BALANCE - 1n);
    expect(await take()).toBeUndefined();
    await storeBalance(db, CHAIN, B, EMPTY_BALANCE);
    expect(await take()).toEqual({ account: B, nonce: 3n });
  });

  it('follow the chain forward and never go back, nor below what was given out', async () => {
    await syncNextNonce(db, CHAIN, A, 5n);
    await syncNextNonce(db, CHAIN, A, 3n);
    expect((await nextNonces(db.reads, CHAIN, [A])).get(A)).toBe(5n);
    await syncNextNonce(db, CHAIN, A, 7n);
    expect((await nextNonces(db.reads, CHAIN, [A])).get(A)).toBe(7n);
    await db.run(sql`delete from relayer_accounts`);
    await open(A, 11n);
    await syncNextNonce(db, CHAIN, A, 7n);
    expect((await nextNonces(db.reads, CHAIN, [A])).get(A)).toBe(12n);
  });
});
