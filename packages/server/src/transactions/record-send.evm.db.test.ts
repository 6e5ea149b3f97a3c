import type { BodyOf, endpoints, Transaction } from '@svc/protocol';
import { sql } from '@svc/store';
import { type Address, createWalletClient, defineChain, encodeFunctionData, erc20Abi, type Hex, http } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silent } from '../../testing/jobs.ts';
import { httpCall, TransactionFixture } from '../../testing/transactions.ts';
import { refusal } from '../../testing/wallets.ts';
import { Networks } from '../chains/networks.ts';
import { evmChainIds, findToken } from '../chains/tokens.ts';
import type { Caller } from '../http/call.ts';
import { getTransaction } from './get-transaction.ts';
import { listOfWallet } from './history.ts';
import { confirm, recordSend } from './record-send.ts';
import { recordToConfirm } from './record-store.ts';

type Body = BodyOf<typeof endpoints.recordSend>;

const USDC = findToken('sandbox', 'BASE', 'USDC')?.address as Address;
const LUIS: Address = `0x${'b0'.repeat(20)}`;
const account = privateKeyToAccount(generatePrivateKey());
const ana = account.address.toLowerCase() as Address;
const transferData = (amount: bigint) =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [LUIS, amount] });

let fixture: TransactionFixture;
beforeAll(async () => {
  fixture = await TransactionFixture.start();
  for (const token of ['ETH', 'USDC'])
    await fixture.sandbox.post('/faucet', { chain: 'BASE', address: ana, token, amount: '9' });
});
afterAll(() => fixture.stop());

async function send(transaction: { to: Address; value?: bigint; data?: Hex; gas?: bigint }): Promise<Hex> {
  const url = `${fixture.sandbox.url}/evm/base/rpc`;
  const nativeCurrency = { name: 'Ether', symbol: 'ETH', decimals: 18 };
  const chain = defineChain({
    id: evmChainIds.BASE,
    name: 'BASE',
    nativeCurrency,
    rpcUrls: { default: { http: [url] } },
  });
  return createWalletClient({ account, chain, transport: http(url) }).sendTransaction(transaction);
}

const EXAMPLE: Body = {
  transactionHash: `0x${'12'.repeat(32)}`,
  expectedSender: account.address,
  expectedRecipient: LUIS,
  expectedToken: 'USDC',
  expectedAmount: '0.5',
  chain: 'BASE',
};
const waitsForLock = async () =>
  (await fixture.db.rows(sql`select from pg_locks where locktype = 'advisory' and not granted`)).length > 0;

const record = (changes: Partial<Body>, caller: Caller = fixture.caller(), networks = fixture.networks) => {
  const body: Body = { ...EXAMPLE, ...changes };
  const deps = { ...fixture, networks, pause: async () => {} };
  return recordSend(deps, httpCall(fixture, caller, body)) as Promise<Transaction>;
};

describe('recording a transfer on an EVM chain', () => {
  it('of a token answers a record by its log, and it is confirmed at the block’s time', async () => {
    const transactionHash = await send({ to: USDC, data: transferData(500_000n) });
    const answer = await record({ transactionHash: `0x${transactionHash.slice(2).toUpperCase()}` });
    expect(answer).toMatchObject({
      type: 'SEND',
      status: 'PENDING',
      chain: 'BASE',
      transactionHash,
      senderAddress: ana,
      destinationAddress: LUIS,
      token: 'USDC',
      tokenAddress: USDC.toLowerCase(),
      functionName: 'transfer',
      amount: '500000',
    });
    await confirm({ ...fixture, log: silent }, answer);
    const receipt = await fixture.networks.evm('development', 'BASE').receipt(transactionHash);
    expect(await recordToConfirm(fixture.db.reads, answer.id)).toMatchObject({
      status: 'SUCCESS',
      blockNumber: receipt?.blockNumber,
      confirmedAt: receipt?.timestamp,
    });
  });

  it('of the chain’s own coin goes by the transaction’s value, and is one record however often it is recorded', async () => {
    const transactionHash = await send({ to: LUIS, value: 10n ** 17n });
    const body = { transactionHash, expectedToken: 'ETH', expectedAmount: '0.1' } as const;
    const answers = await Promise.all([record(body), record(body), record(body)]);
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    expect(answers[0]).toMatchObject({ token: 'ETH', amount: '100000000000000000' });
    expect(answers[0]).not.toHaveProperty('tokenAddress');
    expect(answers[0]).not.toHaveProperty('functionName');
    await confirm({ ...fixture, log: silent }, { id: answers[0]?.id ?? '' });
    expect(await record(body)).toMatchObject({ id: answers[0]?.id, status: 'SUCCESS' });
  });

  it('of the chain’s own coin waits for another request that records the same', async () => {
    const transactionHash = await send({ to: LUIS, value: 1n });
    const body = { ...EXAMPLE, transactionHash, expectedToken: 'ETH', expectedAmount: '0.000000000000000001' } as const;
    const call = httpCall(fixture, fixture.caller(), body);
    const [stored, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow: typeof call.transact = (work) =>
      fixture.db.tx(async (tx) => {
        const answer = await work(tx);
        stored.resolve();
        await commit.promise;
        return answer;
      });
    const first = recordSend(fixture, { ...call, transact: slow });
    await stored.promise;
    let ended = false;
    const second = recordSend(fixture, call).finally(() => {
      ended = true;
    });
    await expect.poll(async () => ended || (await waitsForLock())).toBe(true);
    commit.resolve();
    expect(await second).toEqual(await first);
  });

  it('can be read by its hash and listed by its address with the secret key', async () => {
    const transactionHash = await send({ to: USDC, data: transferData(1n) });
    const { id } = await record({ transactionHash, expectedAmount: '0.000001' });
    const deps = { reads: fixture.db.reads, networks: fixture.networks };
    expect(await getTransaction(deps, fixture.caller(), transactionHash)).toMatchObject({ id });
    const { data } = await listOfWallet(fixture.db.reads, fixture.caller(), { walletAddress: account.address });
    expect(data.map((transaction) => transaction.id)).toContain(id);
    await refusal(listOfWallet(fixture.db.reads, fixture.caller('ana'), { walletAddress: ana }), 'wallet_not_found');
  });

  it('is refused with a user’s token', async () => {
    expect(await refusal(record({}, fixture.caller('ana')), 'secret_key_required')).toContain(
      'BASE needs the secret key',
    );
  });

  it.each([
    ['transactionHash', { transactionHash: '0x12' }, 'body.transactionHash must be 0x and 64'],
    ['expectedSender', { expectedSender: `0x${'1'.repeat(64)}` }, 'body.expectedSender must be 0x and 40'],
    ['expectedRecipient', { expectedRecipient: '0x1' }, 'body.expectedRecipient must be 0x and 40'],
  ])('names %s when it is not of that chain', async (_, changes, message) => {
    expect(await refusal(record(changes), 'invalid_request')).toContain(message);
  });

  it('is refused for a token of another chain, a wrong amount, an unknown hash and a failed transaction', async () => {
    await refusal(record({ expectedToken: 'STRK' }), 'token_not_supported');
    await refusal(record({}), 'transaction_not_found');
    const transactionHash = await send({ to: USDC, data: transferData(2n) });
    expect(await refusal(record({ transactionHash }), 'transaction_mismatch')).toContain('moved 0.000002 USDC');
    const failed = await send({ to: USDC, data: transferData(10n ** 30n), gas: 200_000n });
    expect(await refusal(record({ transactionHash: failed }), 'transaction_reverted')).toContain('was reverted');
  });

  it('is refused where the chain is not configured', async () => {
    const networks = new Networks({ starknet: undefined, evmRpcUrls: {} }, undefined);
    await refusal(record({}, fixture.caller(), networks), 'chain_not_configured');
  });
});
