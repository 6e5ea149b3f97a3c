import { inspect } from 'node:util';
import type { EvmAddress } from '@svc/protocol';
import { type Address, createWalletClient, defineChain, encodeFunctionData, erc20Abi, http } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSandbox } from '../../testing/chain.ts';
import { behave, deadUrl, startFaultyNode } from '../../testing/faulty-node.ts';
import { ViemEvmChain } from './evm-chain.ts';
import { ChainUnavailableError, WrongChainError } from './node-fetch.ts';
import { evmChainIds, findToken } from './tokens.ts';

const USDC = findToken('sandbox', 'BASE', 'USDC')?.address as EvmAddress;
const LUIS = `0x${'b0'.repeat(20)}` as EvmAddress;
/** For the node that hangs; the other one answers at once. */
const TIMEOUT_MS = 1_000;
const ETHER = 10n ** 18n;
const account = privateKeyToAccount(generatePrivateKey());
const ana = account.address.toLowerCase() as EvmAddress;

let sandbox: Awaited<ReturnType<typeof startSandbox>>;
let url: string;
let chain: ViemEvmChain;

const chainAt = (urls: readonly string[], timeoutMs?: number) =>
  new ViemEvmChain({ name: 'BASE', chainId: evmChainIds.BASE, urls, timeoutMs });

function wallet() {
  const definition = defineChain({
    id: evmChainIds.BASE,
    name: 'BASE',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  });
  return createWalletClient({ account, chain: definition, transport: http(url) });
}

async function faucet(token: string, amount: string): Promise<void> {
  const body = JSON.stringify({ chain: 'BASE', address: ana, token, amount });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${sandbox.url}/faucet`, { method: 'POST', headers, body });
  if (!answer.ok) throw new Error(await answer.text());
}

beforeAll(async () => {
  sandbox = await startSandbox();
  url = `${sandbox.url}/evm/base/rpc`;
  chain = chainAt([url]);
  await faucet('ETH', '2');
  await faucet('USDC', '25.5');
});
afterAll(() => sandbox.stop());

describe('an EVM chain through a node', () => {
  it('is the chain that was expected, or the check names both', async () => {
    expect(await chain.checkChain()).toEqual([{ host: new URL(url).host, trouble: undefined }]);
    const other = chainAt([`${sandbox.url}/evm/optimism/rpc`]);
    await expect(other.checkChain()).rejects.toThrow(WrongChainError);
    await expect(other.checkChain()).rejects.toThrow('chain 0xa, but BASE is chain 0x2105');
  });

  it('tells balances of tokens and of its own coin, in their smallest units', async () => {
    expect(await chain.balanceOf(USDC, ana)).toBe(25_500_000n);
    expect(await chain.balanceOf(null, ana)).toBe(2n * ETHER);
    expect(await chain.balanceOf(USDC, `0x${'0d'.repeat(20)}` as EvmAddress)).toBe(0n);
  });

  it('shows what a transfer of tokens moved', async () => {
    const call = { address: USDC as string as Address, abi: erc20Abi, functionName: 'transfer' } as const;
    const hash = await wallet().writeContract({ ...call, args: [LUIS as string as Address, 500_000n] });
    const receipt = await chain.receipt(hash);
    expect(receipt).toMatchObject({ transactionHash: hash, succeeded: true, timestamp: expect.any(Date) });
    expect(receipt?.transfers).toEqual([{ token: USDC, from: ana, to: LUIS, amount: 500_000n, logIndex: 0 }]);
    expect(await chain.blockNumber()).toBeGreaterThanOrEqual(receipt?.blockNumber ?? Number.NaN);
  });

  it('shows what a payment in its own coin moved', async () => {
    const hash = await wallet().sendTransaction({ to: LUIS as string as Address, value: ETHER });
    const receipt = await chain.receipt(hash);
    expect(receipt?.transfers).toEqual([{ token: null, from: ana, to: LUIS, amount: ETHER, logIndex: null }]);
  });

  it('shows that a failed transaction moved nothing, neither tokens nor its own coin', async () => {
    const token = USDC as string as Address;
    const args = [LUIS as string as Address, 10n ** 30n] as const;
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args });
    const hash = await wallet().sendTransaction({ to: token, data, value: 1n, gas: 200_000n });
    expect(await chain.receipt(hash)).toMatchObject({ succeeded: false, transfers: [] });
  });

  it('knows nothing of a hash that nobody sent', async () => {
    expect(await chain.receipt(`0x${'12'.repeat(32)}`)).toBeUndefined();
  });

  it.each([
    ['hangs', behave.hang],
    ['hangs up', behave.hangUp],
    ['is broken', behave.status(502)],
    ['talks nonsense', behave.text('<p>')],
    ['is over its limit', behave.error(-32005, 'limit')],
  ])('reads from the second node when the first %s', async (_, behaviour) => {
    const [faulty, second] = [await startFaultyNode(behaviour), await startFaultyNode(behave.result('0x7'))];
    expect(await chainAt([faulty.url, second.url], TIMEOUT_MS).balanceOf(null, LUIS)).toBe(7n);
    expect([faulty.requests.length, second.requests.length]).toEqual([1, 1]);
    await Promise.all([faulty.stop(), second.stop()]);
  });

  it('reads from the second node when the first is down', async () => {
    expect(await chainAt([await deadUrl(), url]).balanceOf(USDC, ana)).toBeTypeOf('bigint');
  });

  it('takes a node’s no for an answer and asks no other', async () => {
    const faulty = await startFaultyNode(behave.error(-32602, 'invalid params'));
    const second = await startFaultyNode(behave.result('0x1'));
    await expect(chainAt([faulty.url, second.url]).balanceOf(null, LUIS)).rejects.toThrow(/invalid params/);
    expect(second.requests).toEqual([]);
    await Promise.all([faulty.stop(), second.stop()]);
  });

  it.each([
    ['says no', behave.error(-32602, 'invalid params')],
    ['reverts', behave.error(3, 'execution reverted')],
    ['is broken', behave.status(502)],
    ['talks nonsense', behave.text('<p>')],
  ])('names the host of a node that %s, and nothing else of its address, in the log', async (_, behaviour) => {
    const node = await startFaultyNode(behaviour);
    const faulty = chainAt([`${node.url}/v2/s3cret-key?apikey=an0ther`]);
    const questions = [
      () => faulty.balanceOf(null, LUIS),
      () => faulty.balanceOf(USDC, LUIS),
      () => faulty.receipt(`0x${'12'.repeat(32)}`),
      () => faulty.blockNumber(),
    ];
    for (const ask of questions) {
      const error = await ask().then(
        () => new Error('It answered.'),
        (thrown: unknown) => thrown,
      );
      const written = inspect(error, { depth: 20 });
      expect(written).not.toMatch(/s3cret|an0ther/);
      expect(written).toContain(new URL(node.url).host);
    }
    await node.stop();
  });

  it('names the host of a node whose answer cannot be read', async () => {
    const node = await startFaultyNode(behave.result('a lot'));
    const thrown = await chainAt([`${node.url}/s3cret-key`])
      .balanceOf(null, LUIS)
      .catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(ChainUnavailableError);
    expect(inspect(thrown, { depth: 20 })).not.toContain('s3cret');
    await node.stop();
  });

  it('has no decimals for an address where no token stands', async () => {
    expect(await chain.decimalsOf(LUIS)).toBeUndefined();
    expect(await chain.decimalsOf(USDC)).toBe(6);
  });

  it('is unavailable when no node answers', async () => {
    await expect(chainAt([await deadUrl()]).receipt(`0x${'12'.repeat(32)}`)).rejects.toThrow(ChainUnavailableError);
  });
});
