import { endpoints, type Transaction } from '@svc/protocol';
import { classes } from '@svc/starknet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { App, field, hashOf, Owner, transferOf } from '../support/app.ts';
import { expectAnswer, expectError } from '../support/assertions.ts';
import { eventually } from '../support/eventually.ts';
import { Sandbox } from '../support/sandbox.ts';
import { type AnyService, TestService } from '../support/service.ts';
import { STRK, USDC } from '../support/starknet-client.ts';

let service: AnyService;
let app: App;
let sandbox: Sandbox;

beforeAll(async () => {
  service = await TestService.hosted();
  app = new App(service.server);
  sandbox = new Sandbox(service.server);
});
afterAll(() => service.stop());

async function funded(user: string, classHash: bigint = classes.svc): Promise<Owner> {
  const owner = new Owner(classHash);
  await app.createWallet(owner, user, classHash === classes.ready ? 'READY' : 'SVC');
  await sandbox.faucet(owner.address, 'USDC', '100');
  return owner;
}

const byHash = (hash: string) => app.get(`/transactions/${hash}`);
const record = async (hash: string) => (await byHash(hash)).body as Transaction;
const final = (hash: string) =>
  eventually(
    () => record(hash),
    ({ status }) => status !== 'PENDING' && status !== 'PROCESSING',
  );
const list = async (query: string) => (await app.get(`/transactions/transaction-list?${query}`)).body as Page;
const normal = (address: string) => `0x${BigInt(address).toString(16).padStart(64, '0')}`;

interface Page {
  readonly data: Transaction[];
  readonly total: number;
  readonly page: number;
  readonly limit: number;
  readonly totalPages: number;
}

describe('a transfer without gas', () => {
  it.each([
    ['SVC', classes.svc],
    ['READY', classes.ready],
    ['SVC of an earlier class', classes.svcSessions],
  ] as const)('moves money of an %s wallet and is recorded', async (_, classHash) => {
    const owner = await funded(`sender ${classHash}`, classHash);
    const to = normal('0xb0b');
    const before = await app.balance(to, 'USDC');
    const reply = await app.execute(owner, [transferOf(USDC, to, 2_500_000n)]);
    expectAnswer(reply, endpoints.executeSponsoredTransaction);
    const done = await final(hashOf(reply));
    expect(done).toMatchObject({
      type: 'SEND',
      subType: 'TRANSFER',
      chain: 'STARKNET',
      senderAddress: normal(owner.address),
      destinationAddress: to,
      functionName: 'transfer',
      token: 'USDC',
      amount: '2500000',
      status: 'SUCCESS',
      confirmedAt: expect.any(String),
    });
    expect(await app.balance(owner.address, 'USDC')).toBe(97_500_000n);
    expect(await app.balance(to, 'USDC')).toBe(before + 2_500_000n);
    expect((await byHash(done.id)).body).toEqual(done);
    const status = await app.get(`/transactions/${hashOf(reply)}/status`);
    expectAnswer(status, endpoints.getTransactionStatus);
    expect(status.body).toMatchObject({ status: 'ACCEPTED_ON_L2', blockNumber: expect.any(Number) });
  });

  it('sent twice with the same signature happens once and answers the same hash', async () => {
    const owner = await funded('impatient');
    const recipient = new Owner().address;
    const message = await app.prepare(owner.address, [transferOf(USDC, recipient, 1n)]);
    const body = { publicKey: owner.address, typedData: message, userSignature: owner.sign(message) };
    const path = '/transactions/execute-sponsored-transaction';
    const replies = await Promise.all([app.post(path, body), app.post(path, body)]);
    replies.push(await app.post(path, body));
    expect(new Set(replies.map(hashOf)).size).toBe(1);
    await final(hashOf(replies[0] ?? (replies[1] as never)));
    expect(await app.balance(recipient, 'USDC')).toBe(1n);
  });

  it('that would fail is refused with the reason of the chain, and leaves no trace', async () => {
    const owner = await funded('poor');
    const reply = await app.execute(owner, [transferOf(USDC, '0xb0b', 100_000_001n)]);
    expectError(reply, 400, 'transaction_reverted');
    expect((reply.body as { message: string }).message).toMatch(/insufficient balance/i);
    const { data } = await list(`walletAddress=${owner.address}&limit=100`);
    expect(data.filter(({ type }) => type === 'SEND')).toEqual([]);
  });

  it('is not recorded when the caller does not want it', async () => {
    const owner = await funded('discreet');
    const reply = await app.execute(owner, [transferOf(USDC, '0xb0b', 1n)], { saveToDatabase: false });
    const status = () => app.get(`/transactions/${hashOf(reply)}/status`);
    await eventually(status, ({ body }) => (body as { status: string }).status === 'ACCEPTED_ON_L2');
    expectError(await byHash(hashOf(reply)), 404, 'transaction_not_found');
  });

  it('of several calls is recorded call by call', async () => {
    const owner = await funded('many calls');
    const calls = [
      transferOf(USDC, '0xb0b', 1n),
      { contractAddress: USDC, entrypoint: 'approve', calldata: ['0xb0b', '5', '0'] },
      transferOf(USDC, '0xa11ce', 2n),
    ];
    const hash = hashOf(await app.execute(owner, calls));
    await final(hash);
    const { data } = await list(`walletAddress=${owner.address}&limit=100`);
    const mine = data.filter(({ transactionHash }) => BigInt(transactionHash) === BigInt(hash));
    expect(mine.map(({ type, functionName, amount, status }) => [type, functionName, amount, status]).sort()).toEqual([
      ['CONTRACT_CALL', 'approve', undefined, 'SUCCESS'],
      ['SEND', 'transfer', '1', 'SUCCESS'],
      ['SEND', 'transfer', '2', 'SUCCESS'],
    ]);
    expect(mine.every(({ subType }) => subType === 'MULTICALL')).toBe(true);
  });

  it('whose call an earlier class skips is FAILED, although the transaction looks successful', async () => {
    const owner = await funded('skipping', classes.svcSessions);
    const reply = await app.execute(owner, [
      transferOf(USDC, '0xb0b', 1n),
      transferOf(USDC, '0xa11ce', 100_000_000_000n),
    ]);
    await final(hashOf(reply));
    const { data } = await eventually(
      () => list(`walletAddress=${owner.address}&limit=100`),
      ({ data }) => data.every(({ status }) => status !== 'PENDING'),
    );
    const outcome = Object.fromEntries(
      data.filter(({ type }) => type === 'SEND').map(({ amount, status }) => [amount, status]),
    );
    expect(outcome).toEqual({ 1: 'SUCCESS', 100000000000: 'FAILED' });
  });
});

describe('a signature', () => {
  const path = '/transactions/execute-sponsored-transaction';

  it('of another signer is refused', async () => {
    const owner = await funded('robbed');
    const message = await app.prepare(owner.address, [transferOf(USDC, '0xbad', 1n)]);
    const body = {
      publicKey: owner.address,
      typedData: message,
      userSignature: new Owner().sign(message, owner.address),
    };
    expectError(await app.post(path, body), 400, 'invalid_signature');
  });

  it('for other calls than those sent is refused', async () => {
    const owner = await funded('cheated');
    const message = (await app.prepare(owner.address, [transferOf(USDC, '0xb0b', 1n)])) as {
      message: { Calls: { Calldata: string[] }[] };
    };
    const userSignature = owner.sign(message);
    const changed = structuredClone(message);
    const [call] = changed.message.Calls;
    if (call) call.Calldata[1] = '0x64';
    expectError(
      await app.post(path, { publicKey: owner.address, typedData: changed, userSignature }),
      400,
      'invalid_signature',
    );
  });

  it('of another wallet’s owner does not reach a wallet of another organisation', async () => {
    expectError(
      await app.post('/transactions/prepare-typed-data', { publicKey: '0x1234', calls: [transferOf(USDC, '0x1', 1n)] }),
      404,
      'wallet_not_found',
    );
  });
});

describe('a send that is recorded', () => {
  const expectation = (owner: Owner, hash: string) => ({
    transactionHash: hash,
    expectedSender: owner.address,
    expectedRecipient: '0xB0B',
    expectedToken: 'USDC',
    expectedAmount: '1.5',
    chain: 'STARKNET',
  });

  it('is verified on the chain, PENDING at first, and the same record when recorded again', async () => {
    const owner = await funded('recorder');
    const hash = hashOf(await app.execute(owner, [transferOf(USDC, '0xb0b', 1_500_000n)], { saveToDatabase: false }));
    const reply = await app.post('/transactions/record-send', expectation(owner, hash));
    expectAnswer(reply, endpoints.recordSend);
    expect(reply.body).toMatchObject({ type: 'SEND', status: 'PENDING', amount: '1500000', token: 'USDC' });
    const again = await app.post('/transactions/record-send', {
      ...expectation(owner, `0x${hash.slice(2).toUpperCase().padStart(64, '0')}`),
      expectedSender: normal(owner.address),
    });
    expect((again.body as Transaction).id).toBe((reply.body as Transaction).id);
    expect(await final(hash)).toMatchObject({ status: 'SUCCESS', confirmedAt: expect.any(String) });
  });

  it('is PENDING at first also when the indexer has found it, and shows its true state from then on', async () => {
    const [owner, recipient] = [await funded('early recorder'), await funded('early recipient')];
    const call = transferOf(USDC, recipient.address, 1_500_000n);
    const hash = hashOf(await app.execute(owner, [call], { saveToDatabase: false }));
    await eventually(
      () => record(hash),
      ({ status }) => status === 'SUCCESS',
    );
    const body = { ...expectation(owner, hash), expectedRecipient: recipient.address };
    const reply = await app.post('/transactions/record-send', body);
    expectAnswer(reply, endpoints.recordSend);
    expect(reply.body).toMatchObject({ type: 'SEND', status: 'PENDING' });
    expect(reply.body).not.toHaveProperty('confirmedAt');
    expect((await app.get(`/transactions/${hash}`)).body).toMatchObject({ status: 'SUCCESS' });
    expect((await app.post('/transactions/record-send', body)).body).toMatchObject({ status: 'SUCCESS' });
  });

  it.each([
    ['expectedSender', { expectedSender: '0x5e4de5' }, /sender/i],
    ['expectedRecipient', { expectedRecipient: '0xa11ce' }, /recipient/i],
    ['expectedAmount', { expectedAmount: '1.500001' }, /amount/i],
    ['expectedToken', { expectedToken: 'USDT' }, /token/i],
  ])('is refused when it does not match: %s', async (_, change, named) => {
    const owner = await funded(`mismatch ${named.source}`);
    const hash = hashOf(await app.execute(owner, [transferOf(USDC, '0xb0b', 1_500_000n)], { saveToDatabase: false }));
    const reply = await app.post('/transactions/record-send', { ...expectation(owner, hash), ...change });
    expectError(reply, 400, 'transaction_mismatch');
    expect((reply.body as { message: string }).message).toMatch(named);
  });

  it('is refused when it was reverted, and when it is unknown', async () => {
    const owner = await funded('reverted');
    await sandbox.ask('/starknet/faults', { kind: 'revert', reason: 'out of luck' });
    const hash = hashOf(await app.execute(owner, [transferOf(USDC, '0xb0b', 1_500_000n)]));
    expect(await final(hash)).toMatchObject({ status: 'FAILED' });
    expectError(await app.post('/transactions/record-send', expectation(owner, hash)), 400, 'transaction_reverted');
    expectError(
      await app.post('/transactions/record-send', expectation(owner, '0x1234')),
      400,
      'transaction_not_found',
    );
    const status = await app.get(`/transactions/${hash}/status`);
    expect(status.body).toMatchObject({ status: 'REVERTED', revertReason: expect.stringContaining('out of luck') });
    expect((await app.get('/transactions/0x1234/status')).body).toMatchObject({ status: 'NOT_RECEIVED' });
  });
});

describe('the history', () => {
  it('pages, newest first, and filters by function and date', async () => {
    const owner = await funded('historian');
    await sandbox.faucet(owner.address, 'STRK', '5');
    for (let amount = 1n; amount <= 5n; amount++) {
      await final(hashOf(await app.execute(owner, [transferOf(STRK, '0xb0b', amount)])));
    }
    const call = { contractAddress: USDC, entrypoint: 'approve', calldata: ['0xb0b', '5', '0'] };
    await final(hashOf(await app.execute(owner, [call])));
    // The indexer finds two transfers of the faucet.
    const all = await eventually(
      () => list(`walletAddress=${owner.address}&limit=100`),
      ({ total }) => total === 8,
    );
    expect(all).toMatchObject({ total: 8, page: 1, limit: 100, totalPages: 1 });
    const times = all.data.map(({ createdAt }) => createdAt);
    expect(times).toEqual([...times].sort().reverse());

    const second = await list(`walletAddress=${owner.address}&limit=3&page=2`);
    expect(second).toMatchObject({ total: 8, page: 2, limit: 3, totalPages: 3 });
    expect(second.data.map(({ id }) => id)).toEqual(all.data.slice(3, 6).map(({ id }) => id));
    expect((await list(`walletAddress=${owner.address}&limit=3&page=4`)).data).toEqual([]);

    expect(await list(`walletAddress=${owner.address}&calledFunction=approve`)).toMatchObject({ total: 1 });
    expect(await list(`walletAddress=${owner.address}&calledFunction=transfer`)).toMatchObject({ total: 7 });
    const today = new Date(times[0] ?? '');
    const [year, month, day] = [today.getUTCFullYear(), today.getUTCMonth() + 1, today.getUTCDate()];
    const dated = (query: string) => list(`walletAddress=${owner.address}&${query}`);
    expect((await dated(`year=${year}`)).total + (await dated(`year=${year - 1}`)).total).toBe(8);
    expect((await dated(`year=${year}&month=${month}`)).total).toBeGreaterThan(0);
    expect((await dated(`year=${year}&month=${month}&day=${day}`)).total).toBeGreaterThan(0);
    expect(await dated('year=2001')).toMatchObject({ data: [], total: 0, totalPages: 0 });
    expectError(
      await app.get(`/transactions/transaction-list?walletAddress=${owner.address}&day=1`),
      400,
      'invalid_request',
    );
    expectError(
      await app.get(`/transactions/transaction-list?walletAddress=${owner.address}&month=1`),
      400,
      'invalid_request',
    );
  });

  it('shows a transfer between two wallets of the organisation once, in both histories', async () => {
    const [from, to] = [await funded('sister'), new Owner()];
    const wallet = await app.createWallet(to, 'brother');
    const hash = hashOf(await app.execute(from, [transferOf(USDC, to.address, 7n)]));
    const done = await final(hash);
    expect(done).toMatchObject({ status: 'SUCCESS', destinationSvcWalletId: wallet.id });
    const received = await list(`walletAddress=${to.address}`);
    expect(received.data.map(({ id }) => id)).toEqual([done.id]);
  });

  it('shows incoming money without being asked, and sync finds nothing more', async () => {
    const owner = new Owner();
    await app.createWallet(owner, 'receiver');
    await sandbox.faucet(owner.address, 'USDC', '12.5');
    const found = await eventually(
      () => list(`walletAddress=${owner.address}`),
      ({ total }) => total > 0,
    );
    expect(found.data).toMatchObject([
      {
        type: 'RECEIVE',
        token: 'USDC',
        amount: '12500000',
        status: 'SUCCESS',
        destinationAddress: normal(owner.address),
      },
    ]);
    const synced = await app.post('/transactions/sync-on-chain', { walletAddress: owner.address });
    expectAnswer(synced, endpoints.syncOnChain);
    expect(synced.body).toEqual({ synced: 0, total: 1 });
  });

  it('finds by sync what was sent without being recorded', async () => {
    const owner = await funded('forgetful');
    const reply = await app.execute(owner, [transferOf(USDC, '0xb0b', 3n)], { saveToDatabase: false });
    await eventually(
      () => app.get(`/transactions/${hashOf(reply)}/status`),
      ({ body }) => (body as { status: string }).status === 'ACCEPTED_ON_L2',
    );
    await eventually(
      () => list(`walletAddress=${owner.address}`),
      ({ total }) => total === 1,
    );
    const synced = await app.post('/transactions/sync-on-chain', { walletAddress: owner.address });
    expect(synced.body).toEqual({ synced: 1, total: 2 });
    expect(field<string>(await byHash(hashOf(reply)), 'type')).toBe('SEND');
  });
});
