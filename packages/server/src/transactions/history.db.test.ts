import { type Database, sql } from '@svc/store';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newOwner, useDatabase } from '../../testing/database.ts';
import { aRecord, newFelt, wrongCounts } from '../../testing/transactions.ts';
import { ALWAYS, countHistory, type Period, readHistory } from './history.ts';
import type { TransactionRecord } from './record.ts';
import { changeRecord, insertRecords, type RecordOwner } from './record-store.ts';

const records = useDatabase();
const RUNS = 30;
const SIZES = { batch: 7, entriesAPlace: 4 };

// Few of each, so that moments, addresses and functions coincide often.
const moment = fc.integer({ min: 0, max: 12 }).map((n) => new Date(Date.UTC(2026, 0, 1) + n * 1_000));
const functionName = fc.constantFrom('transfer', 'approve', undefined);
const party = fc.nat(3);
const newRecord = fc.record({ moment, functionName, from: party, to: party, hashed: fc.boolean() });
const operation = fc.oneof(
  { weight: 6, arbitrary: fc.record({ add: fc.array(newRecord, { minLength: 1, maxLength: 12 }) }) },
  { weight: 2, arbitrary: fc.record({ hash: fc.nat() }) },
  { weight: 2, arbitrary: fc.constant({ count: true }) },
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

interface Scene {
  readonly db: Database;
  readonly owner: RecordOwner;
  readonly addresses: readonly string[];
  readonly stored: TransactionRecord[];
}

async function perform({ db, owner, addresses, stored }: Scene, next: Operation): Promise<void> {
  if ('count' in next) {
    await countHistory(db, undefined, SIZES);
  } else if ('add' in next) {
    const given = next.add.map(({ moment: createdAt, functionName, from, to, hashed }) =>
      aRecord(owner, {
        createdAt,
        functionName,
        senderAddress: addresses[from] ?? '',
        destinationAddress: addresses[to] ?? '',
        transactionHash: hashed ? newFelt() : undefined,
      }),
    );
    stored.push(...(await insertRecords(db, given)));
  } else {
    const place = next.hash % Math.max(1, stored.length);
    const record = stored[place];
    const changed = record && (await changeRecord(db, record.id, { status: 'PROCESSING', transactionHash: newFelt() }));
    if (changed) stored[place] = changed;
  }
}

/** What the history should be, the simple way. */
function expected({ stored }: Scene, address: string, functionName: string | undefined, { from, before }: Period) {
  return stored
    .filter(({ transactionHash }) => transactionHash !== undefined)
    .filter((record) => record.senderAddress === address || record.destinationAddress === address)
    .filter((record) => functionName === undefined || record.functionName === functionName)
    .filter(({ createdAt }) => createdAt.getTime() >= from && createdAt.getTime() < before)
    .sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? 1 : -1))
    .map(({ id }) => id);
}

describe('a history', () => {
  it('is what was recorded, page by page and in total, also with records added, hashed and counted in between', async () => {
    const db = records.db();
    const periods = fc.tuple(fc.constantFrom(undefined, 'transfer', 'approve', 'none'), moment, moment, fc.boolean());
    const questions = fc.array(fc.tuple(party, periods, fc.nat(30), fc.integer({ min: 1, max: 12 })), { minLength: 6 });
    const property = fc.asyncProperty(fc.array(operation, { maxLength: 14 }), questions, async (operations, asked) => {
      const addresses = Array.from({ length: 4 }, newFelt);
      const scene: Scene = { db, owner: await newOwner(db), addresses, stored: [] };
      for (const next of operations) await perform(scene, next);
      expect(await wrongCounts(db)).toEqual([]);
      for (const [who, [name, one, other, always], offset, limit] of asked) {
        const [from = 0, before = 0] = [one.getTime(), other.getTime()].sort((a, b) => a - b);
        const period = always ? ALWAYS : { from, before };
        const address = addresses[who] ?? '';
        const all = expected(scene, address, name, period);
        const query = { address, functionName: name, period, limit, offset };
        const page = await readHistory(db.reads, scene.owner, query);
        expect(page.total).toBe(all.length);
        expect(page.records.map(({ id }) => id)).toEqual(all.slice(offset, offset + limit));
      }
    });
    await fc.assert(property, { numRuns: RUNS });
  });

  it('keeps few entries at each place, however they came', async () => {
    const db = records.db();
    const owner = await newOwner(db);
    const senderAddress = newFelt();
    const add = (n: number) =>
      insertRecords(
        db,
        new Array(n).fill(undefined).map(() => aRecord(owner, { senderAddress })),
      );
    for (const n of [1, 5, 1, 30, 2, 2, 2, 2]) {
      await add(n);
      await countHistory(db, undefined, SIZES);
    }
    const most = await db.one(sql`
      select max(entries) as most, sum(entries) as all from transaction_history_counts
       where history = history_key(${owner.organizationId}, ${owner.environment}, ${senderAddress}) and function_name = ''`);
    expect(most).toEqual({ most: expect.any(Number), all: 45n });
    expect(most).toHaveProperty(
      'most',
      expect.toSatisfy((n: number) => n <= SIZES.entriesAPlace),
    );
  });
});

describe('records that are stored at the same time', () => {
  it('never wait for one another in a circle, and every one is counted while they come', async () => {
    const db = records.db();
    const owner = await newOwner(db);
    const merchant = newFelt();
    const people = Array.from({ length: 6 }, newFelt);
    const stop = new AbortController();
    const count = async () => {
      while (!stop.signal.aborted) await countHistory(db, undefined, { batch: 50, entriesAPlace: 8 });
    };
    const counting = Promise.all([count(), count()]);
    const caller = (n: number) =>
      db.tx(async (tx) => {
        // Each in an order of its own, over several statements of one transaction.
        const order = people.map((_, i) => people[(i * (n % 5) + n) % people.length] ?? '');
        for (const senderAddress of order) {
          await insertRecords(tx, [aRecord(owner, { senderAddress, destinationAddress: merchant })]);
        }
      });
    try {
      for (let round = 0; round < 10; round++) await Promise.all(Array.from({ length: 6 }, (_, n) => caller(n)));
    } finally {
      stop.abort();
      await counting;
    }
    const query = { address: merchant, functionName: undefined, period: ALWAYS, limit: 1, offset: 0 };
    expect((await readHistory(db.reads, owner, query)).total).toBe(360);
    expect(await wrongCounts(db)).toEqual([]);
  });

  it('of one wallet do not wait for each other at all', async () => {
    const db = records.db();
    const owner = await newOwner(db);
    const destinationAddress = newFelt();
    const address = destinationAddress;
    await db.tx(async (first) => {
      await insertRecords(first, [aRecord(owner, { destinationAddress })]);
      // Were there a lock on the wallet, this would wait until the first has ended, which waits for this.
      await db.tx((second) => insertRecords(second, [aRecord(owner, { destinationAddress })]));
      await countHistory(db);
    });
    await countHistory(db);
    const query = { address, functionName: undefined, period: ALWAYS, limit: 10, offset: 0 };
    expect((await readHistory(db.reads, owner, query)).total).toBe(2);
    expect(await wrongCounts(db)).toEqual([]);
  });
});
