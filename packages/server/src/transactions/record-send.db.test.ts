import type { BodyOf, endpoints, Transaction } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { sql } from '@svc/store';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { transfer } from '../../testing/chain.ts';
import {
  httpCall,
  outsider,
  purchaseOf,
  stranger,
  TransactionFixture,
  transferOf,
  USDC,
} from '../../testing/transactions.ts';
import { type Owner, refusal } from '../../testing/wallets.ts';
import { Networks } from '../chains/networks.ts';
import { addressOf, type StarknetChain } from '../chains/starknet/chain.ts';
import type { Caller } from '../http/call.ts';
import { findWallet } from '../wallets/wallet.ts';
import type { TransactionDeps } from './execute.ts';
import { getTransaction } from './get-transaction.ts';
import { recordSend } from './record-send.ts';
import { changeRecord, insertRecords } from './record-store.ts';

type Body = BodyOf<typeof endpoints.recordSend>;

let fixture: TransactionFixture;
let ana: Owner;
beforeAll(async () => {
  fixture = await TransactionFixture.start();
  ana = await fixture.funded('ana');
});
afterAll(() => fixture.stop());
afterEach(() => fixture.sandbox.post('/starknet/block-time', { seconds: 0 }));

const noPause = async () => {};
const record = (body: Body, caller: Caller = fixture.caller(), deps: Partial<TransactionDeps> = {}) =>
  recordSend({ ...fixture, pause: noPause, ...deps }, httpCall(fixture, caller, body)) as Promise<Transaction>;
/** A transfer of 2.5 USDC that the wallet executed and that is not recorded. */
async function sent(changes: Partial<Body> = {}): Promise<Body> {
  const to = stranger();
  const transactionHash = await fixture.execute(ana, [transferOf(to, 2_500_000)], { saveToDatabase: false });
  return {
    transactionHash,
    expectedSender: ana.address,
    expectedRecipient: to,
    expectedToken: 'USDC',
    expectedAmount: '2.5',
    chain: 'STARKNET',
    ...changes,
  };
}
const jobsOf = (id: string) => fixture.db.rows<{ task: string }>(sql`select task from jobs where key = ${id}`);

describe('recording a transfer', () => {
  it('answers a pending record of what the chain shows, and has it followed', async () => {
    const body = await sent();
    const answer = await record(body);
    const wallet = await findWallet(fixture.db.reads, fixture.caller(), ana.address);
    const receipt = await fixture.chain.receipt(BigInt(body.transactionHash));
    const block = await fixture.chain.block(receipt?.blockNumber ?? -1);
    expect(answer).toMatchObject({
      id: expect.stringMatching(/^txn_/),
      type: 'SEND',
      subType: 'TRANSFER',
      chain: 'STARKNET',
      status: 'PENDING',
      transactionHash: body.transactionHash,
      senderAddress: ana.address,
      destinationAddress: body.expectedRecipient,
      contractAddress: USDC,
      contractName: 'USDC',
      functionName: 'transfer',
      token: 'USDC',
      tokenAddress: USDC,
      amount: '2500000',
      apiPublicKey: 'pk_dev_1',
      svcWalletId: wallet?.id,
      createdAt: block?.timestamp.toISOString(),
    });
    expect(await jobsOf(answer.id)).toEqual([{ task: 'confirm-transaction' }]);
  });

  it('takes any spelling of hash and addresses', async () => {
    const body = await sent();
    const spelled = (text: string) => `0x${BigInt(text).toString(16).toUpperCase().padStart(64, '0')}`;
    const { transactionHash, expectedSender, expectedRecipient } = body;
    const answer = await record({
      ...body,
      transactionHash: spelled(transactionHash),
      expectedSender: spelled(expectedSender),
      expectedRecipient: toHex(BigInt(expectedRecipient)),
    });
    expect(answer).toMatchObject({
      transactionHash,
      senderAddress: expectedSender,
      destinationAddress: expectedRecipient,
    });
  });

  it('of a sender that is no wallet needs the secret key', async () => {
    const to = stranger();
    const transactionHash = await fixture.sendAlone([transfer('STRK', BigInt(to), 10n ** 18n)]);
    const body: Body = {
      transactionHash,
      expectedSender: toHex(outsider.address),
      expectedRecipient: to,
      expectedToken: 'STRK',
      expectedAmount: '1',
      chain: 'STARKNET',
    };
    const answer = await record(body);
    expect(answer).toMatchObject({ senderAddress: addressOf(outsider.address), token: 'STRK' });
    expect(answer.svcWalletId).toBeUndefined();
    await refusal(record(body, fixture.caller('ana')), 'wallet_not_found');
  });

  it('with a user’s token is for the user’s own wallets', async () => {
    const body = await sent();
    await refusal(record(body, fixture.caller('luis')), 'wallet_not_found');
    expect(await record(body, fixture.caller('ana'))).toMatchObject({ status: 'PENDING' });
  });

  it('waits for a transaction that the node has not heard of yet', async () => {
    const body = await sent();
    let looks = 0;
    const networks = withReceipts((known) => {
      looks += 1;
      return looks > 3 ? known : undefined;
    });
    expect(await record(body, fixture.caller(), { networks })).toMatchObject({ status: 'PENDING' });
    expect(looks).toBe(4);
  });

  it('of the open block is recorded before the block is sealed', async () => {
    await fixture.sandbox.post('/starknet/block-time', { seconds: 3_600 });
    const answer = await record(await sent());
    expect(answer.status).toBe('PENDING');
  });
});

describe('the same transfer', () => {
  it('answers PENDING when it is first recorded, although the indexer has found it, and its true state from then on', async () => {
    const [body, twin] = [await sent(), fixture.caller(undefined, await fixture.newOrganization())];
    await record(body, twin);
    const [own] = await fixture.records(body.transactionHash, twin);
    if (!own) throw new Error('There is no record.');
    const { organizationId } = fixture.caller();
    const found = { ...own, organizationId, status: 'SUCCESS', confirmedAt: new Date() } as const;
    const [stored] = await insertRecords(fixture.db, [found]);
    const first = await record(body);
    expect(first).toMatchObject({ id: stored?.id, type: 'SEND', status: 'PENDING' });
    expect(first).not.toHaveProperty('confirmedAt');
    const read = await getTransaction(
      { reads: fixture.db.reads, networks: fixture.networks },
      fixture.caller(),
      first.id,
    );
    expect(read).toMatchObject({ status: 'SUCCESS', confirmedAt: expect.any(String) });
    expect(await record(body)).toEqual(read);
    expect(await jobsOf(first.id)).toEqual([]);
  });

  it('answers PENDING to one of several that record it at once, when the indexer has found it', async () => {
    const [body, twin] = [await sent(), fixture.caller(undefined, await fixture.newOrganization())];
    await record(body, twin);
    const [own] = await fixture.records(body.transactionHash, twin);
    if (!own) throw new Error('There is no record.');
    const { organizationId } = fixture.caller();
    await insertRecords(fixture.db, [{ ...own, organizationId, status: 'SUCCESS', confirmedAt: new Date() }]);
    const answers = await Promise.all([record(body), record(body), record(body)]);
    expect(answers.map(({ status }) => status).sort()).toEqual(['PENDING', 'SUCCESS', 'SUCCESS']);
  });

  it('recorded again answers the same record, also at once', async () => {
    const body = await sent();
    const answers = await Promise.all([record(body), record(body), record(body, fixture.caller('ana'))]);
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    expect(await record(body)).toEqual(answers[0]);
    expect(await fixture.records(body.transactionHash)).toHaveLength(1);
  });

  it('executed by us is the record that was stored then, whether it has ended or not', async () => {
    const to = stranger();
    const transactionHash = await fixture.execute(ana, [transferOf(to, 7), transferOf(to, 8)]);
    const [, second] = await fixture.records(transactionHash);
    const body = { ...(await sent()), transactionHash, expectedRecipient: to, expectedAmount: '0.000008' };
    const before = await record(body);
    expect(before).toMatchObject({ id: second?.id, status: 'PENDING', subType: 'MULTICALL' });
    expect(await jobsOf(before.id)).toEqual([]);
    await fixture.applyOutcome(transactionHash);
    expect(await record(body)).toMatchObject({ id: second?.id, status: 'SUCCESS' });
    expect(await fixture.records(transactionHash)).toHaveLength(2);
  });

  it('executed by us is found by the hash of a transaction whose fee had to be raised, too', async () => {
    const to = stranger();
    const first = await fixture.execute(ana, [transferOf(to, 9)]);
    const [stored] = await fixture.records(first);
    await fixture.db.run(sql`update transactions set transaction_hash = '0xf1257' where id = ${stored?.id}`);
    const body = { ...(await sent()), transactionHash: first, expectedRecipient: to, expectedAmount: '0.000009' };
    expect(await record(body)).toMatchObject({ id: stored?.id });
  });

  it('found as received becomes one that was sent', async () => {
    const body = await sent();
    const answer = await record(body);
    const other = fixture.caller(undefined, await fixture.newOrganization());
    const [own] = await fixture.records(body.transactionHash);
    if (!own) throw new Error('There is no record.');
    const received = { ...own, organizationId: other.organizationId, type: 'RECEIVE', status: 'SUCCESS' } as const;
    const [stored] = await insertRecords(fixture.db, [{ ...received, senderWalletId: undefined }]);
    const again = await record(body, other);
    expect(again).toMatchObject({ id: stored?.id, type: 'SEND', status: 'PENDING' });
    expect(again.id).not.toBe(answer.id);
    expect(await record(body, other)).toMatchObject({ id: stored?.id, type: 'SEND', status: 'SUCCESS' });

    await changeRecord(fixture.db, again.id, { status: 'FAILED' }, { reorganised: true });
    await fixture.db.run(sql`update transactions set type = 'RECEIVE' where id = ${again.id}`);
    expect(await record(body, other)).toMatchObject({
      type: 'SEND',
      status: 'SUCCESS',
      confirmedAt: expect.any(String),
    });
  });

  it('is not the purchase that it paid for, although that tells of the same', async () => {
    const [body, other] = [await sent(), fixture.caller(undefined, await fixture.newOrganization())];
    await record(body, other);
    const [payment] = await fixture.records(body.transactionHash, other);
    if (!payment) throw new Error('There is no record.');
    const { organizationId } = fixture.caller();
    const [purchase] = await insertRecords(fixture.db, [purchaseOf({ ...payment, organizationId })]);
    const answer = await record(body);
    expect(answer).toMatchObject({ type: 'SEND', status: 'PENDING' });
    expect(await record(body)).toMatchObject({ id: answer.id });
    expect(answer.id).not.toBe(purchase?.id);
  });

  it('that counted as lost is a success again when the chain shows it', async () => {
    const body = await sent();
    const { id } = await record(body);
    await changeRecord(fixture.db, id, { status: 'FAILED' });
    expect(await record(body)).toMatchObject({ id, status: 'SUCCESS', confirmedAt: expect.any(String) });
  });

  it('that is the payment of a purchase stays one', async () => {
    const body = await sent();
    const { id } = await record(body);
    await fixture.db.run(sql`update transactions set type = 'SKU_PURCHASE', status = 'FAILED' where id = ${id}`);
    await fixture.db.run(sql`delete from jobs where key = ${id}`);
    expect(await record(body)).toMatchObject({ id, type: 'SKU_PURCHASE', status: 'FAILED' });
    expect(await jobsOf(id)).toEqual([]);
  });

  it('of another organisation is a record of its own', async () => {
    const body = await sent();
    const other = fixture.caller(undefined, await fixture.newOrganization());
    const [own, foreign] = [await record(body), await record(body, other)];
    expect(own.id).not.toBe(foreign.id);
    expect(foreign.svcWalletId).toBeUndefined();
  });

  it('twice in one transaction is its first', async () => {
    const to = stranger();
    const transactionHash = await fixture.execute(ana, [transferOf(to, 3), transferOf(to, 3)], {
      saveToDatabase: false,
    });
    const body = { ...(await sent()), transactionHash, expectedRecipient: to, expectedAmount: '0.000003' };
    const first = await record(body);
    expect(await record(body)).toEqual(first);
  });
});

describe('a transfer that is refused', () => {
  it.each([
    ['transactionHash', { transactionHash: 'hash' }, 'body.transactionHash must be 0x'],
    ['transactionHash beyond felts', { transactionHash: `0x${'f'.repeat(64)}` }, 'body.transactionHash is too large'],
    ['expectedSender', { expectedSender: '0x0' }, 'body.expectedSender must not be'],
    ['expectedRecipient', { expectedRecipient: 'luis' }, 'body.expectedRecipient must be 0x'],
    ['expectedAmount', { expectedAmount: '1e6' }, 'body.expectedAmount must be a plain decimal'],
    ['expectedAmount with too many decimals', { expectedAmount: '0.0000001' }, 'must have at most 6 decimals'],
  ])('because %s cannot be read names it', async (_, changes, message) => {
    const body = { ...EXAMPLE, ...changes };
    expect(await refusal(record(body), 'invalid_request')).toContain(message);
  });

  it.each(['OTHER', 'MXNB'] as const)('because the chain does not have %s says so', async (expectedToken) => {
    const message = await refusal(record({ ...EXAMPLE, expectedToken }), 'token_not_supported');
    expect(message).toBe(`STARKNET does not have the token ${expectedToken}.`);
  });

  it('because no node knows it was polled for three seconds', async () => {
    let waitedMs = 0;
    const pause = async (ms: number) => {
      waitedMs += ms;
    };
    const failure = record(EXAMPLE, fixture.caller(), { pause });
    expect(await refusal(failure, 'transaction_not_found')).toContain('STARKNET does not know it');
    await expect(failure).rejects.toMatchObject({ status: 400 });
    expect(waitedMs).toBe(3_000);
  });

  it('because it reverted names the chain’s reason', async () => {
    await fixture.sandbox.post('/starknet/faults', { kind: 'revert', reason: 'out of luck' });
    const transactionHash = await fixture.sendAlone([transfer('STRK', 5n, 1n)]);
    expect(await refusal(record({ ...EXAMPLE, transactionHash }), 'transaction_reverted')).toContain('out of luck');
  });

  it.each([
    ['token', { expectedToken: 'DAI', expectedAmount: '2.5' }, 'expectedToken does not match: the transaction moves'],
    ['sender', { expectedSender: '0x5' }, 'expectedSender does not match: the USDC came from 0x'],
    ['recipient', { expectedRecipient: '0x5' }, 'expectedRecipient does not match: the USDC went to 0x'],
    ['amount', { expectedAmount: '2.4' }, 'expectedAmount does not match: the transaction moved 2.5 USDC.'],
  ] as const)('because its %s is another names the field and what was found', async (_, changes, message) => {
    expect(await refusal(record(await sent(changes)), 'transaction_mismatch')).toContain(message);
  });

  it('because there is no Starknet says so', async () => {
    const networks = new Networks({ starknet: undefined, evmRpcUrls: {} }, undefined);
    await refusal(record(EXAMPLE, fixture.caller(), { networks }), 'chain_not_configured');
  });
});

const EXAMPLE: Body = {
  transactionHash: '0x1234567890',
  expectedSender: '0x5',
  expectedRecipient: '0x6',
  expectedToken: 'USDC',
  expectedAmount: '1',
  chain: 'STARKNET',
};

type Receipt = Awaited<ReturnType<TransactionFixture['chain']['receipt']>>;

/** Networks on which receipts are changed by the test, and statuses are unknown. */
function withReceipts(tell: (receipt: Receipt) => Receipt): Networks {
  const network = fixture.networks.starknet('development');
  const changes: Partial<StarknetChain> = {
    receipt: async (hash) => tell(await network.chain.receipt(hash)),
    transactionStatus: async () => ({ status: 'NOT_RECEIVED', accepted: false, revertReason: undefined }),
    block: (number) => network.chain.block(number),
  };
  const chain = { chainId: network.chain.chainId, ...changes } as StarknetChain;
  const token: Networks['token'] = (...asked) => fixture.networks.token(...asked);
  return { starknet: () => ({ ...network, chain }), token } as unknown as Networks;
}
