import type { TxStatus } from '@svc/protocol';
import { sql } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { newOwner, useDatabase } from '../../testing/database.ts';
import { aRecord, purchaseOf } from '../../testing/transactions.ts';
import { toTransaction } from './record.ts';
import { changeRecord, insertRecords } from './record-store.ts';

const records = useDatabase();

type Given = Parameters<typeof aRecord>[1];

async function stored(given: Given = {}) {
  const owner = await newOwner(records.db());
  const [record] = await insertRecords(records.db(), [aRecord(owner, given)]);
  if (!record) throw new Error('The record was not stored.');
  const change = (status: TxStatus, changes: object = {}) =>
    changeRecord(records.db(), record.id, { status, ...changes }, { reorganised: true });
  const events = () =>
    records.db().rows<{ type: string; data: object }>(sql`
      select type, data from events where organization_id = ${owner.organizationId} order by id`);
  const types = async () => (await events()).map(({ type }) => type);
  return { record, change, events, types };
}

const TO_OWN_WALLET = { destinationWalletId: 'wlt_2' };

describe('events of a record', () => {
  it('tell that it is confirmed, with the transaction as it is then', async () => {
    const { change, events } = await stored({ status: 'PENDING' });
    const confirmed = await change('SUCCESS', { confirmedAt: new Date(), blockNumber: 7 });
    expect(await events()).toEqual([
      { type: 'transaction.confirmed', data: confirmed && JSON.parse(JSON.stringify(toTransaction(confirmed))) },
    ]);
  });

  it('come once, however often the same end is stored', async () => {
    const { change, types } = await stored({ status: 'PENDING', ...TO_OWN_WALLET });
    await Promise.all([1, 2, 3].map((blockNumber) => change('SUCCESS', { confirmedAt: new Date(), blockNumber })));
    await change('SUCCESS', { blockNumber: 9 });
    expect((await types()).sort()).toEqual(['transaction.confirmed', 'transfer.received']);
  });

  it('correct each other after reorganisations, one for each change', async () => {
    const { change, types } = await stored({ status: 'PENDING' });
    for (const status of ['SUCCESS', 'FAILED', 'FAILED', 'SUCCESS', 'FAILED'] as const) await change(status);
    const [confirmed, failed] = ['transaction.confirmed', 'transaction.failed'];
    expect(await types()).toEqual([confirmed, failed, confirmed, failed]);
  });

  it('tell of a transfer that was found on the chain, and of its end when the chain takes it back', async () => {
    const { change, types } = await stored({ type: 'RECEIVE', status: 'SUCCESS', blockNumber: 5, ...TO_OWN_WALLET });
    await change('FAILED');
    expect(await types()).toEqual(['transfer.received', 'transaction.failed']);
  });

  it('tell the sender of a transfer that was received before it was recorded', async () => {
    const { change, types } = await stored({ type: 'RECEIVE', status: 'SUCCESS', blockNumber: 5, ...TO_OWN_WALLET });
    await change('SUCCESS', { type: 'SEND' });
    expect(await types()).toEqual(['transfer.received', 'transaction.confirmed']);
  });

  it('leave out history, pending records, purchases and records without a hash', async () => {
    const owner = await newOwner(records.db());
    const received = aRecord(owner, { type: 'RECEIVE', status: 'SUCCESS', blockNumber: 5, ...TO_OWN_WALLET });
    await insertRecords(records.db(), [received], { newsAbove: 5 });
    await insertRecords(records.db(), [purchaseOf(aRecord(owner, { status: 'SUCCESS' }))]);
    const [hidden] = await insertRecords(records.db(), [aRecord(owner, { transactionHash: undefined })]);
    await changeRecord(records.db(), hidden?.id ?? '', { status: 'FAILED' });
    const told = await records.db().rows(sql`select from events where organization_id = ${owner.organizationId}`);
    expect(told).toEqual([]);
  });
});
