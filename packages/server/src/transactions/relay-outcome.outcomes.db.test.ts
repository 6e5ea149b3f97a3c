import { classes, selector, toHex } from '@svc/starknet';
import { type Db, sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CallText, STRK, stranger, TransactionFixture, transferOf } from '../../testing/transactions.ts';
import type { Owner } from '../../testing/wallets.ts';
import { transfersIn } from '../chains/starknet/chain.ts';
import { findWallet } from '../wallets/wallet.ts';
import { insertRecords } from './record-store.ts';
import { transactionOutcomes } from './relay-outcome.ts';

let fixture: TransactionFixture;
let ana: Owner;
beforeAll(async () => {
  fixture = await TransactionFixture.start();
  ana = await fixture.funded('ana');
});
afterAll(() => fixture.stop());

const approve = (): CallText => ({ contractAddress: STRK, entrypoint: 'approve', calldata: [stranger(), '7', '0'] });
const failed = async (hash: string) => {
  const rows = await fixture.db.rows<{ revert_reason: string }>(sql`
    select revert_reason from transactions where transaction_hash = ${hash} and status = 'FAILED' order by call_index`);
  return rows.map((row) => row.revert_reason);
};

it('relays that end together have their records read and changed by one statement each', async () => {
  const [one, two] = [stranger(), stranger()];
  const hashes = [
    await fixture.execute(ana, [transferOf(one, 5), transferOf(one, 7)]),
    await fixture.execute(ana, [transferOf(two, 6)]),
  ];
  const outcomes = await Promise.all(hashes.map((hash) => fixture.sponsor.outcomeOf(hash)));
  const statements: string[] = [];
  await fixture.db.tx(async (tx) => {
    const counting: Db = {
      ...tx,
      rows: (query) => {
        statements.push(query.text);
        return tx.rows(query);
      },
    };
    await Promise.all(outcomes.map((outcome) => transactionOutcomes().calls(counting, outcome)));
  });
  const about = (text: string) => statements.filter((statement) => statement.includes(text)).length;
  expect([
    about('from transactions\n     where relay_id'),
    about('update transactions'),
    about('insert into events'),
  ]).toEqual([1, 1, 1]);
  const [first, second] = [await fixture.records(hashes[0] ?? ''), await fixture.records(hashes[1] ?? '')];
  expect(first).toMatchObject([
    { status: 'SUCCESS', destinationAddress: one, amount: 5n },
    { status: 'SUCCESS', destinationAddress: one, amount: 7n },
  ]);
  expect(second).toMatchObject([{ status: 'SUCCESS', destinationAddress: two, amount: 6n }]);
});

describe('a relay that succeeded', () => {
  it('makes a transfer a success by its event, with its block and the block’s time', async () => {
    const to = stranger();
    const hash = await fixture.execute(ana, [transferOf(to, 5)]);
    const confirmedAt = new Date('2026-05-01T10:00:00Z');
    await fixture.applyOutcome(hash, { confirmedAt });
    const receipt = await fixture.chain.receipt(BigInt(hash));
    const event = transfersIn({ events: receipt?.events ?? [] }).find((transfer) => transfer.to === BigInt(to));
    expect(event).toBeDefined();
    expect(await fixture.records(hash)).toMatchObject([
      { status: 'SUCCESS', confirmedAt, blockNumber: receipt?.blockNumber, eventIndex: event?.eventIndex },
    ]);
  });

  it('gives each of several equal transfers an event of its own', async () => {
    const to = stranger();
    const hash = await fixture.execute(ana, [transferOf(to, 5), approve(), transferOf(to, 5)]);
    await fixture.applyOutcome(hash);
    const records = await fixture.records(hash);
    expect(records.map(({ status }) => status)).toEqual(['SUCCESS', 'SUCCESS', 'SUCCESS']);
    const [first, call, second] = records.map(({ eventIndex }) => eventIndex);
    expect(call).toBeUndefined();
    expect(first).toBeLessThan(second ?? 0);
  });

  it('fails the transfer that an earlier class skipped, although the transaction succeeded', async () => {
    const owner = await fixture.funded('luis', classes.svcPolicies);
    const hash = await fixture.execute(owner, [transferOf(stranger(), 10n ** 18n), transferOf(stranger(), 5)]);
    await fixture.applyOutcome(hash);
    expect(await fixture.statuses(hash)).toEqual(['FAILED', 'SUCCESS']);
    expect(await failed(hash)).toEqual(['The transaction succeeded, but its receipt shows no such transfer.']);
  });

  it('fails a call that an earlier class may have skipped: only an event of its contract proves it', async () => {
    const owner = await fixture.funded('luis', classes.svcPolicies);
    const tooMuch = {
      contractAddress: STRK,
      entrypoint: 'transfer_from',
      calldata: [stranger(), owner.address, '9', '0'],
    };
    const doubtful = await fixture.execute(owner, [transferOf(stranger(), 5, STRK), tooMuch, approve()]);
    await fixture.applyOutcome(doubtful);
    const done = await fixture.execute(owner, [transferOf(stranger(), 5, STRK), approve()]);
    await fixture.applyOutcome(done);
    const skipped = await fixture.execute(owner, [tooMuch]);
    await fixture.applyOutcome(skipped);
    const sure = await fixture.execute(ana, [{ contractAddress: STRK, entrypoint: 'decimals', calldata: [] }]);
    await fixture.applyOutcome(sure);
    // Which of two calls of one contract left the only event is not known.
    expect(await fixture.statuses(doubtful)).toEqual(['SUCCESS', 'FAILED', 'FAILED']);
    expect(await fixture.statuses(done)).toEqual(['SUCCESS', 'SUCCESS']);
    expect(await fixture.statuses(skipped)).toEqual(['FAILED']);
    expect((await failed(skipped))[0]).toContain('may have been skipped');
    expect(await fixture.statuses(sure)).toEqual(['SUCCESS']);
  });

  it('can be told again and changes nothing', async () => {
    const hash = await fixture.execute(ana, [transferOf(stranger(), 5)]);
    await fixture.applyOutcome(hash);
    const [before] = await fixture.records(hash);
    await fixture.applyOutcome(hash, { confirmedAt: before?.confirmedAt });
    expect(await fixture.records(hash)).toMatchObject([{ ...before, updatedAt: expect.any(Date) }]);
  });

  it('moves the record to the hash that was executed when the fee had to be raised', async () => {
    const hash = await fixture.execute(ana, [transferOf(stranger(), 5)]);
    await fixture.applyOutcome(hash, { hash: 0xbeefn });
    expect(await fixture.records(hash)).toEqual([]);
    expect(await fixture.records('0xbeef')).toMatchObject([{ status: 'SUCCESS' }]);
  });

  it('goes without an event that another record of the organisation has, and is a success all the same', async () => {
    const hash = await fixture.execute(ana, [transferOf(stranger(), 5)]);
    const [record] = await fixture.records(hash);
    const receipt = await fixture.chain.receipt(BigInt(hash));
    const [event] = transfersIn({ events: receipt?.events ?? [] });
    if (!record) throw new Error('There is no record.');
    await insertRecords(fixture.db, [
      { ...record, relayId: undefined, callIndex: undefined, eventIndex: event?.eventIndex },
    ]);
    await fixture.applyOutcome(hash);
    const own = (await fixture.records(hash)).find(({ relayId }) => relayId !== undefined);
    expect(own).toMatchObject({ status: 'SUCCESS', eventIndex: undefined });
  });
});

describe('a relay that came to nothing', () => {
  it('fails all its records with the chain’s reason when it reverted', async () => {
    const hash = await fixture.execute(ana, [transferOf(stranger(), 5), approve()]);
    await fixture.applyOutcome(hash, {
      result: 'REVERTED',
      revertReason: 'Spending: exceeds per-call',
      confirmedAt: undefined,
    });
    expect(await fixture.statuses(hash)).toEqual(['FAILED', 'FAILED']);
    expect(await failed(hash)).toEqual(['Spending: exceeds per-call', 'Spending: exceeds per-call']);
  });

  it('fails all its records, under the hash that its caller knows, when it was never executed', async () => {
    const hash = await fixture.execute(ana, [transferOf(stranger(), 5)]);
    const nothing = { hash: undefined, receipt: undefined, confirmedAt: undefined };
    await fixture.applyOutcome(hash, { result: 'VOIDED', ...nothing });
    expect(await fixture.records(hash)).toMatchObject([{ status: 'FAILED', confirmedAt: undefined }]);
    expect(await failed(hash)).toEqual(['The transaction was never executed.']);
  });

  it('leaves a wallet of another relay alone', async () => {
    const hash = await fixture.execute(ana, [transferOf(stranger(), 5)]);
    await fixture.applyOutcome(hash, { result: 'REVERTED', revertReason: 'no' });
    expect(await findWallet(fixture.db.reads, fixture.caller(), ana.address)).toMatchObject({ isDeployed: true });
  });
});

describe('a reorganisation', () => {
  it('can turn success into failure and failure into success', async () => {
    const hash = await fixture.execute(ana, [transferOf(stranger(), 5)]);
    await fixture.applyOutcome(hash);
    await fixture.applyOutcome(hash, { result: 'REVERTED', revertReason: 'no', confirmedAt: undefined });
    expect(await fixture.records(hash)).toMatchObject([{ status: 'FAILED', confirmedAt: undefined }]);
    await fixture.applyOutcome(hash);
    expect(await fixture.records(hash)).toMatchObject([{ status: 'SUCCESS', confirmedAt: expect.any(Date) }]);
  });

  it('can move events to places that other records of the relay had', async () => {
    const hash = await fixture.execute(ana, [transferOf(stranger(), 5), transferOf(stranger(), 6)]);
    await fixture.applyOutcome(hash);
    const before = (await fixture.records(hash)).map(({ eventIndex }) => eventIndex ?? Number.NaN);
    const receipt = await fixture.chain.receipt(BigInt(hash));
    if (!receipt) throw new Error('There is no receipt.');
    const events = [{ from: 0x1n, keys: [], data: [] }, ...receipt.events];
    await fixture.applyOutcome(hash, { receipt: { ...receipt, events } });
    const after = (await fixture.records(hash)).map(({ eventIndex }) => eventIndex);
    expect(after).toEqual(before.map((index) => index + 1));
  });

  it('takes back a wallet that was deployed with its first calls', async () => {
    const owner = await fixture.unsent();
    await fixture.voidCreation(owner);
    const hash = await fixture.execute(owner, [
      { contractAddress: owner.address, entrypoint: toHex(selector('get_public_key')), calldata: [] },
    ]);
    const isDeployed = async () => (await findWallet(fixture.db.reads, fixture.caller(), owner.address))?.isDeployed;
    await fixture.applyOutcome(hash);
    expect(await isDeployed()).toBe(true);
    await fixture.applyOutcome(hash, { result: 'VOIDED', hash: undefined, receipt: undefined });
    expect(await isDeployed()).toBe(false);
  });
});

describe('an outcome', () => {
  it('of calls without records changes nothing', async () => {
    const hash = await fixture.execute(ana, [transferOf(stranger(), 5)], { saveToDatabase: false });
    await fixture.applyOutcome(hash);
    expect(await fixture.records(hash)).toEqual([]);
  });
});
