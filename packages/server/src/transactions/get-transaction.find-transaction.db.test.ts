import { randomBytes } from 'node:crypto';
import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aRecord, purchaseOf, stranger, TransactionFixture, transferOf } from '../../testing/transactions.ts';
import { refusal } from '../../testing/wallets.ts';
import { Networks } from '../chains/networks.ts';
import type { Caller } from '../http/call.ts';
import { getTransaction } from './get-transaction.ts';
import type { NewRecord } from './record.ts';
import { insertRecords } from './record-store.ts';

let fixture: TransactionFixture;
beforeAll(async () => {
  fixture = await TransactionFixture.start();
});
afterAll(() => fixture.stop());

const find = (hashOrId: string, caller: Caller = fixture.caller(), networks = fixture.networks) =>
  getTransaction({ reads: fixture.db.reads, networks }, caller, hashOrId);
const missing = (hashOrId: string, caller?: Caller) => refusal(find(hashOrId, caller), 'transaction_not_found');
/** A hash as nodes spell it. */
const unpadded = () => `0x1${randomBytes(30).toString('hex')}`;

async function store(...records: Partial<NewRecord>[]) {
  return insertRecords(
    fixture.db,
    records.map((record) => aRecord(fixture.caller(), { transactionHash: unpadded(), ...record })),
  );
}

describe('a transaction', () => {
  it('is found by its id and by its hash in any spelling', async () => {
    const transactionHash = unpadded();
    const [record] = await store({ transactionHash });
    const digits = transactionHash.slice(2);
    const spellings = [record?.id ?? '', transactionHash, `0x${digits.toUpperCase()}`, `0x${digits.padStart(64, '0')}`];
    for (const spelling of spellings) expect(await find(spelling), spelling).toMatchObject({ id: record?.id });
  });

  it('of an EVM chain is found by its hash, also where there is no Starknet', async () => {
    const transactionHash = `0x${'fe'.repeat(32)}`;
    const [record] = await store({ transactionHash, chain: 'SCROLL' });
    expect(await find(`0x${'FE'.repeat(32)}`)).toMatchObject({ id: record?.id, chain: 'SCROLL' });
    const none = new Networks({ starknet: undefined, evmRpcUrls: {} }, undefined);
    expect(await find(transactionHash, fixture.caller(), none)).toMatchObject({ id: record?.id });
    await refusal(find('0x5', fixture.caller(), none), 'transaction_not_found');
  });

  it.each(['nothing', 'txn_nothing', '0x', '0xzz', `0x${'1'.repeat(65)}`, '12345'])(
    'is not found by %s',
    async (text) => {
      await missing(text);
    },
  );

  it('of another organisation or environment is like one that does not exist', async () => {
    const [record] = await store({});
    const other = fixture.caller(undefined, await fixture.newOrganization());
    const production: Caller = { ...fixture.caller(), environment: 'production' };
    const { id = '', transactionHash = '' } = record ?? {};
    const answers = [await missing(id, other), await missing(transactionHash, other), await missing(id, production)];
    expect(new Set([...answers, await missing('txn_nothing', other)]).size).toBe(1);
  });

  it('without a hash is hidden', async () => {
    const [record] = await store({ transactionHash: undefined });
    await missing(record?.id ?? '');
  });

  it('is with a user’s token one that touches the user’s own wallets', async () => {
    const [ana, luis] = [await fixture.funded('ana'), await fixture.funded('luis')];
    const [sent] = await store({ senderAddress: ana.address });
    const [received] = await store({ destinationAddress: ana.address });
    for (const { id, transactionHash = '' } of [sent, received].filter((record) => record !== undefined)) {
      expect(await find(id, fixture.caller('ana'))).toMatchObject({ id });
      expect(await find(transactionHash, fixture.caller('ana'))).toMatchObject({ id });
      await missing(id, fixture.caller('luis'));
      await missing(transactionHash, fixture.caller('luis'));
    }
    const [both] = await store({ senderAddress: ana.address, destinationAddress: luis.address });
    expect(await find(both?.id ?? '', fixture.caller('luis'))).toMatchObject({ id: both?.id });
  });

  it('with several records is what the caller sent, and of that the first call', async () => {
    const [ana, luis] = [await fixture.funded('ana'), await fixture.funded('luis')];
    const transactionHash = unpadded();
    const [received, second, first] = await store(
      { transactionHash, type: 'RECEIVE', destinationAddress: luis.address, eventIndex: 0 },
      { transactionHash, senderAddress: ana.address, destinationAddress: luis.address, callIndex: 1, eventIndex: 7 },
      { transactionHash, senderAddress: ana.address, callIndex: 0, eventIndex: 9 },
    );
    expect(await find(transactionHash)).toMatchObject({ id: first?.id });
    expect(await find(transactionHash, fixture.caller('ana'))).toMatchObject({ id: first?.id });
    expect(await find(transactionHash, fixture.caller('luis'))).toMatchObject({ id: received?.id });
    expect(second?.id).toBeDefined();
  });

  it('that paid for a purchase is the purchase, for callers who may see it', async () => {
    const [ana, luis] = [await fixture.funded('ana'), await fixture.funded('luis')];
    const sent = { transactionHash: unpadded(), senderAddress: ana.address, callIndex: 0, eventIndex: 0 };
    const [payment] = await store(sent);
    if (!payment) throw new Error('There is no payment.');
    const [purchase] = await insertRecords(fixture.db, [purchaseOf(payment)]);
    for (const caller of [fixture.caller(), fixture.caller('ana')]) {
      expect(await find(sent.transactionHash, caller)).toMatchObject({ id: purchase?.id, type: 'SKU_PURCHASE' });
      expect(await find(payment.id, caller)).toMatchObject({ id: payment.id, type: 'SEND' });
    }
    await missing(sent.transactionHash, fixture.caller('luis'));
    expect(luis.address).not.toBe(ana.address);
  });

  it('is found by the hash of an earlier attempt whose fee was raised, by its own organisation', async () => {
    const ana = await fixture.funded('ana');
    const hash = await fixture.execute(ana, [transferOf(stranger(), 1)]);
    const [record] = await fixture.records(hash);
    const earlier = unpadded();
    const chainId = `0x${fixture.chain.chainId.toString(16)}`;
    await fixture.db.run(sql`
      insert into relay_attempts (chain_id, hash, relay_id, kind, transaction)
      values (${chainId}, ${earlier}, ${record?.relayId}, 'FIRST', '{}')`);
    expect(await find(`0x${earlier.slice(2).padStart(64, '0')}`)).toMatchObject({
      id: record?.id,
      transactionHash: hash,
    });
    await missing(earlier, fixture.caller(undefined, await fixture.newOrganization()));
    await missing(earlier, fixture.caller('luis'));
  });
});
