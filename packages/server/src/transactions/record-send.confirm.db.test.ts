import { toHex } from '@svc/starknet';
import { sql } from '@svc/store';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { transfer } from '../../testing/chain.ts';
import { deadUrl } from '../../testing/faulty-node.ts';
import { silent } from '../../testing/jobs.ts';
import { aRecord, outsider, STRK, stranger, TransactionFixture } from '../../testing/transactions.ts';
import { Networks } from '../chains/networks.ts';
import { addressOf } from '../chains/starknet/chain.ts';
import type { NewRecord, TransactionRecord } from './record.ts';
import { type ConfirmDeps, type ConfirmPayload, confirm, confirmJob } from './record-send.ts';
import { insertRecords, recordToConfirm } from './record-store.ts';

let fixture: TransactionFixture;
beforeAll(async () => {
  fixture = await TransactionFixture.start();
});
afterAll(() => fixture.stop());
afterEach(() => fixture.sandbox.post('/starknet/block-time', { seconds: 0 }));

const MINUTE = 60_000;
const start = Date.parse('2026-06-01T00:00:00Z');

/** A pending record of a transfer that is on the chain. */
async function recorded(changes: Partial<NewRecord> = {}): Promise<TransactionRecord> {
  const to = stranger();
  const transactionHash = await fixture.sendAlone([transfer('STRK', BigInt(to), 5n)]);
  const parties = { senderAddress: addressOf(outsider.address), destinationAddress: to };
  const what = { token: 'STRK', tokenAddress: STRK, amount: 5n } as const;
  const [record] = await insertRecords(fixture.db, [
    aRecord(fixture.caller(), { transactionHash, ...parties, ...what, ...changes }),
  ]);
  if (!record) throw new Error('There is no record.');
  return record;
}

interface Waiting {
  readonly payload: ConfirmPayload;
  readonly run_at: Date;
}
const waiting = (id: string) => fixture.db.one<Waiting>(sql`select payload, run_at from jobs where key = ${id}`);
const stateOf = (id: string) => recordToConfirm(fixture.db.reads, id);
const look = (toConfirm: ConfirmPayload, at = start, deps: Partial<ConfirmDeps> = {}) =>
  confirm({ db: fixture.db, networks: fixture.networks, log: silent, now: () => at, ...deps }, toConfirm);

/** Looks as the queue would, each time when the job is due, until none waits; answers how long it took. */
async function follow({ id }: TransactionRecord): Promise<number> {
  let at = start;
  let next: ConfirmPayload | undefined = { id };
  for (let looks = 0; next && looks < 100; looks += 1) {
    await look(next, at);
    const job: Waiting | undefined = await waiting(id);
    await fixture.db.run(sql`delete from jobs where key = ${id}`);
    next = job?.payload;
    at = job?.run_at.getTime() ?? at;
  }
  return at - start;
}

describe('confirming a recorded transfer', () => {
  it('makes it a success in a sealed block, at the block’s time', async () => {
    const record = await recorded();
    await look(record);
    const receipt = await fixture.chain.receipt(BigInt(record.transactionHash ?? 0));
    const block = await fixture.chain.block(receipt?.blockNumber ?? -1);
    expect(await stateOf(record.id)).toMatchObject({
      status: 'SUCCESS',
      blockNumber: block?.number,
      confirmedAt: block?.timestamp,
    });
    expect(await waiting(record.id)).toBeUndefined();
  });

  it('comes back while the block is open', async () => {
    await fixture.sandbox.post('/starknet/block-time', { seconds: 3_600 });
    const record = await recorded();
    await look(record);
    expect(await stateOf(record.id)).toMatchObject({ status: 'PENDING' });
    expect(await waiting(record.id)).toEqual({ payload: { id: record.id, looks: 1 }, run_at: new Date(start + 1_000) });
    await fixture.sandbox.post('/starknet/mine', { blocks: 1 });
    await look({ id: record.id, looks: 1 });
    expect(await stateOf(record.id)).toMatchObject({ status: 'SUCCESS' });
  });

  it('comes back less and less often, every half minute at the end', async () => {
    await fixture.sandbox.post('/starknet/block-time', { seconds: 3_600 });
    const { id } = await recorded();
    const pauses: number[] = [];
    for (let looks = 0; looks < 7; looks += 1) {
      await look({ id, looks });
      pauses.push(((await waiting(id))?.run_at.getTime() ?? 0) - start);
      await fixture.db.run(sql`delete from jobs where key = ${id}`);
    }
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  });

  it('stores the end and its event together: where the event is not stored, the next look ends the record', async () => {
    const { id } = await recorded();
    const told = () => fixture.db.rows(sql`select type from events where subject = ${id}`);
    await fixture.db.run(sql`alter table events rename to events_gone`);
    await expect(look({ id })).rejects.toThrow('events');
    await fixture.db.run(sql`alter table events_gone rename to events`);
    expect(await stateOf(id)).toMatchObject({ status: 'PENDING' });
    await look({ id });
    expect(await stateOf(id)).toMatchObject({ status: 'SUCCESS' });
    expect(await told()).toEqual([{ type: 'transaction.confirmed' }]);
  });

  it('fails what reverted', async () => {
    await fixture.sandbox.post('/starknet/faults', { kind: 'revert', reason: 'out of luck' });
    const { id } = await recorded();
    await look({ id });
    expect(await stateOf(id)).toMatchObject({ status: 'FAILED' });
  });

  it('fails what the receipt does not show: the transaction’s own success is no proof', async () => {
    const { id } = await recorded({ amount: 6n });
    await look({ id });
    expect(await stateOf(id)).toMatchObject({ status: 'FAILED', confirmedAt: undefined });
  });

  it('fails what the chain has not known for ten minutes, and not before', async () => {
    const record = await recorded({ transactionHash: toHex(0x600d1n) });
    await look({ id: record.id, missingSince: start - 10 * MINUTE + 1 });
    expect(await stateOf(record.id)).toMatchObject({ status: 'PENDING' });
    const tookMs = await follow(record);
    expect(await stateOf(record.id)).toMatchObject({ status: 'FAILED' });
    expect(tookMs).toBeGreaterThanOrEqual(10 * MINUTE);
    expect(tookMs).toBeLessThan(11 * MINUTE);
  });

  it('forgets that the chain did not know it once the chain does', async () => {
    await fixture.sandbox.post('/starknet/block-time', { seconds: 3_600 });
    const { id } = await recorded();
    await look({ id, looks: 3, missingSince: start - 20 * MINUTE });
    expect((await waiting(id))?.payload).toEqual({ id, looks: 4 });
  });

  it('waits for a chain that cannot be asked, however long, and logs each retry with its error', async () => {
    const { id, transactionHash } = await recorded();
    const lines: { fields: object; message: string }[] = [];
    const log = { ...silent, warn: (fields: object, message: string) => void lines.push({ fields, message }) };
    const url = await deadUrl();
    const networks = new Networks(
      { starknet: undefined, evmRpcUrls: {} },
      {
        url,
        publicUrl: url,
        paymentAddress: 1n,
      },
    );
    await look({ id, looks: 9, missingSince: start - 60 * MINUTE }, start, { networks, log });
    expect(await stateOf(id)).toMatchObject({ status: 'PENDING' });
    expect((await waiting(id))?.payload).toEqual({ id, looks: 10 });
    const fields = { id, chain: 'STARKNET', transactionHash, retries: 9, err: expect.any(Error) };
    expect(lines).toEqual([{ fields, message: 'transaction not readable, retrying' }]);
  });

  it('leaves alone what follows a relay, what was received, and what does not exist', async () => {
    const [relayed, received] = [await recorded({ relayId: 'rel_1' }), await recorded({ type: 'RECEIVE' })];
    for (const { id } of [relayed, received]) {
      await look({ id });
      expect(await stateOf(id)).toMatchObject({ status: 'PENDING' });
      expect(await waiting(id)).toBeUndefined();
    }
    await look({ id: 'txn_nobody' });
  });
});

describe('a reorganisation', () => {
  it('that drops the transaction fails the record in the end', async () => {
    const record = await recorded();
    await look(record);
    await fixture.sandbox.post('/starknet/reorg', { blocks: 1, transactions: 'drop' });
    await follow(record);
    expect(await stateOf(record.id)).toMatchObject({ status: 'FAILED', confirmedAt: undefined });
  });

  it('that moves the transaction to another block moves the record', async () => {
    await fixture.sandbox.post('/starknet/mine', { blocks: 2 });
    const record = await recorded();
    await look(record);
    const before = await stateOf(record.id);
    await fixture.sandbox.post('/starknet/reorg', { blocks: 2, transactions: 'requeue' });
    await follow(record);
    const after = await stateOf(record.id);
    expect(after).toMatchObject({ status: 'SUCCESS' });
    expect(after?.blockNumber).toBeLessThan(before?.blockNumber ?? 0);
  });

  it('that brings a lost transaction back makes it a success again', async () => {
    const record = await recorded({ status: 'FAILED' });
    await look(record);
    expect(await stateOf(record.id)).toMatchObject({ status: 'SUCCESS' });
  });

  it('that changed nothing changes nothing', async () => {
    const record = await recorded();
    await look(record);
    const before = await stateOf(record.id);
    await look(record);
    expect(await stateOf(record.id)).toEqual(before);
  });
});

describe('the job', () => {
  it('is one for each record, of its organisation', () => {
    expect(confirmJob({ id: 'txn_1', organizationId: 'org_1' })).toEqual({
      task: 'confirm-transaction',
      key: 'txn_1',
      payload: { id: 'txn_1' },
      tenant: 'org_1',
    });
  });
});
