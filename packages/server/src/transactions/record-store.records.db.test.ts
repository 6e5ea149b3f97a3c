import { sql } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { newOwner, useDatabase } from '../../testing/database.ts';
import { aRecord, newFelt, purchaseOf } from '../../testing/transactions.ts';
import { newId } from '../util/ids.ts';
import * as store from './record-store.ts';
import { recordsByHashes } from './record-store.ts';

const records = useDatabase();
// Storing them takes long enough for callers to meet.
const EVENTS = 1_000;

async function stored(given: Parameters<typeof aRecord>[1] = {}) {
  const owner = await newOwner(records.db());
  const [record] = await store.insertRecords(records.db(), [aRecord(owner, given)]);
  if (!record) throw new Error('The record was not stored.');
  return { owner, record };
}

describe('a stored record', () => {
  it('is read back as it was given, with an id', async () => {
    const given = {
      eventIndex: 3,
      relayId: 'rly_1',
      callIndex: 0,
      contractAddress: newFelt(),
      contractName: 'USDC',
      functionSelector: newFelt(),
      amount: 2n ** 256n - 1n,
      status: 'SUCCESS' as const,
      blockNumber: 2 ** 40,
      senderWalletId: 'wlt_1',
      destinationWalletId: 'wlt_2',
      confirmedAt: new Date('2026-03-14T15:09:30.001Z'),
    };
    const { owner, record } = await stored(given);
    expect(record).toMatchObject(given);
    expect(record.id).toMatch(/^txn_/);
    expect(await store.recordById(records.db(), owner, record.id)).toEqual(record);
  });

  it('of a purchase is read back with what was bought, under the id that it was given', async () => {
    const owner = await newOwner(records.db());
    const given = purchaseOf(aRecord(owner));
    const record = await store.insertRecordAs(records.db(), newId('txn'), given);
    expect(record).toMatchObject({ ...given, id: expect.stringMatching(/^txn_/) });
    expect(await store.recordById(records.db(), owner, record.id)).toEqual(record);
  });

  it('of a purchase is not among what its transaction moved', async () => {
    const { owner, record } = await stored({ eventIndex: 0 });
    const { transactionHash = '', chain } = record;
    const [purchase] = await store.insertRecords(records.db(), [purchaseOf(record)]);
    const found = async (options: { withPurchase?: boolean }) => {
      const all = await store.recordsByHash(records.db(), { ...owner, ...options }, chain, transactionHash);
      return all.map(({ id }) => id);
    };
    expect(await found({})).toEqual([record.id]);
    expect(await found({ withPurchase: true })).toEqual(expect.arrayContaining([record.id, purchase?.id]));
    const many = await recordsByHashes(records.db(), owner.environment, [BigInt(transactionHash)]);
    expect(many.every(({ type }) => type === 'SEND')).toBe(true);
  });

  it('leaves undefined what was not given', async () => {
    const { record } = await stored({ transactionHash: undefined, amount: undefined, token: undefined });
    expect(record.transactionHash).toBeUndefined();
    expect(record.amount).toBeUndefined();
    expect(record.token).toBeUndefined();
    expect(record.confirmedAt).toBeUndefined();
  });

  it('exists for its own organisation and environment only', async () => {
    const { owner, record } = await stored();
    const other = await newOwner(records.db());
    expect(await store.recordById(records.db(), other, record.id)).toBeUndefined();
    const production = { ...owner, environment: 'production' as const };
    expect(await store.recordById(records.db(), production, record.id)).toBeUndefined();
  });

  it('is never deleted, moved in the history or made to forget its hash', async () => {
    const { record } = await stored();
    const db = records.db();
    await expect(db.run(sql`delete from transactions where id = ${record.id}`)).rejects.toThrow('refuse this DELETE');
    for (const change of [
      sql`created_at = now()`,
      sql`sender_address = '0x1'`,
      sql`function_name = null`,
      sql`transaction_hash = null`,
    ]) {
      await expect(db.run(sql`update transactions set ${change} where id = ${record.id}`)).rejects.toThrow(
        'refuse this',
      );
    }
  });
});

describe('an event', () => {
  it('is recorded once for an organisation, and the first record is answered again', async () => {
    const { owner, record } = await stored({ eventIndex: 2 });
    const same = aRecord(owner, { transactionHash: record.transactionHash, eventIndex: 2, type: 'RECEIVE' });
    const next = { ...same, eventIndex: 4 };
    const answered = await store.insertRecords(records.db(), [next, same, next]);
    expect(answered[1]).toEqual(record);
    expect(answered[0]).toMatchObject({ eventIndex: 4, type: 'RECEIVE' });
    expect(answered[2]).toEqual(answered[0]);
    const hash = record.transactionHash ?? '';
    expect(await store.recordsByHash(records.db(), owner, 'STARKNET', hash)).toHaveLength(2);
  });

  it('is recorded for each organisation, environment and chain that it concerns', async () => {
    const { owner, record } = await stored({ eventIndex: 2 });
    const event = { transactionHash: record.transactionHash, eventIndex: 2 };
    const other = await newOwner(records.db());
    const answered = await store.insertRecords(records.db(), [
      aRecord(other, event),
      aRecord({ ...owner, environment: 'production' }, event),
      aRecord(owner, { ...event, chain: 'BASE' }),
    ]);
    expect(new Set([record, ...answered].map(({ id }) => id)).size).toBe(4);
  });

  it('that several callers record at the same time is recorded once, and all are told of it', async () => {
    const db = records.db();
    const owner = await newOwner(db);
    const events = Array.from({ length: EVENTS }, () => aRecord(owner, { eventIndex: 0 }));
    const callers = [events, [...events].reverse(), events, [...events].reverse()];
    const ready = Promise.withResolvers<void>();
    let begun = 0;
    const answers = await Promise.all(
      callers.map((given) =>
        db.tx(async (tx) => {
          await tx.run(sql`select 1`);
          if (++begun === callers.length) ready.resolve();
          await ready.promise;
          return store.insertRecords(tx, given);
        }),
      ),
    );
    const ids = answers.map((answer, i) => (i % 2 ? [...answer].reverse() : answer).map(({ id }) => id));
    for (const answer of ids) expect(answer).toEqual(ids[0]);
    expect(new Set(ids[0]).size).toBe(EVENTS);
  });

  it('that is not known yet does not keep records of one hash apart', async () => {
    const { owner, record } = await stored();
    const sibling = aRecord(owner, { transactionHash: record.transactionHash });
    await store.insertRecords(records.db(), [sibling, sibling]);
    const hash = record.transactionHash ?? '';
    expect(await store.recordsByHash(records.db(), owner, 'STARKNET', hash)).toHaveLength(3);
  });
});

describe('records', () => {
  it('are stored in any number and answered in the order in which they were given', async () => {
    const db = records.db();
    const owner = await newOwner(db);
    const given = Array.from({ length: 2_500 }, (_, i) => aRecord(owner, { amount: BigInt(i) }));
    const answered = await store.insertRecords(db, given);
    expect(answered.map(({ amount }) => amount)).toEqual(given.map(({ amount }) => amount));
    expect(await store.insertRecords(db, [])).toEqual([]);
  });

  it('of a relay are found in the order of their calls', async () => {
    const db = records.db();
    const owner = await newOwner(db);
    const relayId = newFelt();
    await store.insertRecords(
      db,
      [2, 0, 1].map((callIndex) => aRecord(owner, { relayId, callIndex, transactionHash: undefined })),
    );
    expect((await store.recordsOfRelay(db, relayId)).map(({ callIndex }) => callIndex)).toEqual([0, 1, 2]);
    expect(await store.recordsOfRelay(db, newFelt())).toEqual([]);
  });

  it('of a hash are found for one organisation or for all, never for another environment', async () => {
    const db = records.db();
    const [mine, other] = [await newOwner(db), await newOwner(db)];
    const event = { transactionHash: newFelt(), eventIndex: 1 };
    await store.insertRecords(db, [aRecord(mine, event), aRecord(other, event)]);
    const find = (whose: Parameters<typeof store.recordsByHash>[1]) =>
      store.recordsByHash(db, whose, 'STARKNET', event.transactionHash);
    expect(await find(mine)).toHaveLength(1);
    expect(await find({ environment: 'development' })).toHaveLength(2);
    expect(await find({ environment: 'production' })).toEqual([]);
  });

  it('above a block are found, lowest first, on its chain and in its environment', async () => {
    const db = records.db();
    const owner = await newOwner(db, { environment: 'production' });
    const at = (blockNumber: number | undefined, given = {}) => aRecord(owner, { blockNumber, ...given });
    await store.insertRecords(db, [at(12), at(10), at(11), at(undefined), at(13, { chain: 'BASE' })]);
    const found = await store.recordsAbove(db, 'production', 'STARKNET', 10);
    expect(found.map(({ blockNumber }) => blockNumber)).toEqual([11, 12]);
    const elsewhere = await store.recordsAbove(db, 'development', 'STARKNET', 10);
    expect(elsewhere.filter(({ organizationId }) => organizationId === owner.organizationId)).toEqual([]);
  });
});

describe('a change', () => {
  it('leaves alone what it does not name', async () => {
    const { record } = await stored({ senderWalletId: 'wlt_1' });
    const changed = await store.changeRecord(records.db(), record.id, { status: 'SUCCESS', eventIndex: 5 });
    expect(changed).toEqual({ ...record, status: 'SUCCESS', eventIndex: 5, updatedAt: changed?.updatedAt });
  });

  it('keeps the time of confirmation with SUCCESS and the reason with FAILED only', async () => {
    const db = records.db();
    const { record } = await stored();
    const reasonOf = () => db.one(sql`select revert_reason as reason from transactions where id = ${record.id}`);
    const confirmedAt = new Date('2026-03-14T15:09:30Z');
    const success = await store.changeRecord(db, record.id, { status: 'SUCCESS', confirmedAt, revertReason: 'none' });
    expect(success?.confirmedAt).toEqual(confirmedAt);
    expect(await reasonOf()).toEqual({ reason: null });
    const revertReason = `Spending: exceeds per-call\0${'!'.repeat(9_999)}`;
    const failed = await store.changeRecord(db, record.id, { status: 'FAILED', revertReason }, { reorganised: true });
    expect(failed?.confirmedAt).toBeUndefined();
    expect(await reasonOf()).toEqual({ reason: expect.stringMatching(/^Spending: exceeds per-call!{3974}$/) });
  });

  it('of several records takes each from its own status, and answers those that it changed in their order', async () => {
    const db = records.db();
    const [pending, ended, other] = [await stored(), await stored({ status: 'CANCELLED' }), await stored()];
    const changed = await store.changeRecords(
      db,
      new Map([
        [other.record.id, { status: 'FAILED', revertReason: 'no', blockNumber: 9 }],
        [ended.record.id, { status: 'SUCCESS' }],
        ['txn_none', { status: 'SUCCESS' }],
        [pending.record.id, { status: 'SUCCESS', eventIndex: 2, blockNumber: 8 }],
      ]),
    );
    expect(changed.map(({ id, ...rest }) => ({ id, ...rest }))).toMatchObject([
      { id: other.record.id, status: 'FAILED', revertReason: 'no', blockNumber: 9, eventIndex: undefined },
      { id: pending.record.id, status: 'SUCCESS', revertReason: undefined, blockNumber: 8, eventIndex: 2 },
    ]);
    expect(await store.changeRecords(db, new Map())).toEqual([]);
  });

  it('of a record that does not exist answers undefined', async () => {
    expect(await store.changeRecord(records.db(), 'txn_none', { status: 'FAILED' })).toBeUndefined();
  });
});
