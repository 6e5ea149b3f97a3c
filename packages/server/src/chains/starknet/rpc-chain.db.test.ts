import { chainIds, classes, selector, toHex } from '@svc/starknet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { relayer, signed, signedPayment, startSandbox, transfer } from '../../../testing/chain.ts';
import { behave, startFaultyNode } from '../../../testing/faulty-node.ts';
import { ChainUnavailableError, WrongChainError } from '../node-fetch.ts';
import { findToken } from '../tokens.ts';
import { TRANSFER_SELECTOR, transfersIn } from './chain.ts';
import { RpcStarknetChain } from './rpc-chain.ts';

const STRK = BigInt(findToken('sandbox', 'STARKNET', 'STRK')?.address ?? 0);
const NOBODY = 0xdeadn;

let sandbox: Awaited<ReturnType<typeof startSandbox>>;
let chain: RpcStarknetChain;

beforeAll(async () => {
  sandbox = await startSandbox();
  chain = new RpcStarknetChain({ chainId: chainIds.SVC_SANDBOX, urls: [sandbox.rpcUrl] });
});
afterAll(() => sandbox.stop());

async function control(path: string, body: unknown): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${sandbox.url}/starknet/${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(await answer.text());
}

const nextNonce = async (number: number) => (await chain.nonceAt(relayer(number).address, 'pre_confirmed')) ?? 0n;

describe('Starknet through a node', () => {
  it('is the chain that was expected, or the check names both', async () => {
    expect(await chain.checkChain()).toEqual([{ host: new URL(sandbox.url).host, trouble: undefined }]);
    const mainnet = new RpcStarknetChain({ chainId: chainIds.SN_MAIN, urls: [sandbox.rpcUrl] });
    await expect(mainnet.checkChain()).rejects.toThrow(WrongChainError);
    await expect(mainnet.checkChain()).rejects.toThrow(
      '0x5356435f53414e44424f58, but STARKNET is chain 0x534e5f4d41494e',
    );
  });

  it('answers calls with felts, and the contract’s no with its code and reason', async () => {
    const supply = await chain.call({ to: STRK, entrypoint: 'decimals' });
    expect(supply).toEqual({ ok: true, felts: [18n] });
    expect(await chain.call({ to: NOBODY, entrypoint: 'decimals' })).toMatchObject({ ok: false, code: 20 });
    expect(await chain.call({ to: STRK, entrypoint: 'nonsense' })).toMatchObject({ ok: false, code: 21 });
  });

  it('tells where no contract stands', async () => {
    const { address } = relayer(1);
    expect(await chain.classHashAt(address)).toBeTypeOf('bigint');
    expect(await chain.nonceAt(address)).toBeTypeOf('bigint');
    expect(await chain.classHashAt(NOBODY)).toBeUndefined();
    expect(await chain.nonceAt(NOBODY)).toBeUndefined();
  });

  it('tells balances exactly, also above 128 bits', async () => {
    expect(await chain.balanceOf(STRK, NOBODY)).toBe(0n);
    const wide = await startFaultyNode(behave.result(['0x5', '0x2']));
    const other = new RpcStarknetChain({ chainId: chainIds.SVC_SANDBOX, urls: [wide.url] });
    expect(await other.balanceOf(STRK, NOBODY)).toBe(5n + (2n << 128n));
    await wide.stop();
  });

  it('takes a signed transaction and shows its receipt, its transfers and its block', async () => {
    const from = relayer(2);
    const tx = signed([transfer('STRK', NOBODY, 7n)], { nonce: await nextNonce(2), from });
    expect(await chain.transactionStatus(tx.hash)).toMatchObject({ status: 'NOT_RECEIVED', accepted: false });
    expect(await chain.receipt(tx.hash)).toBeUndefined();
    expect(await chain.send(tx)).toEqual({ outcome: 'sent' });
    const receipt = await chain.receipt(tx.hash);
    expect(receipt).toMatchObject({ transactionHash: tx.hash, status: 'ACCEPTED_ON_L2', accepted: true });
    const [first] = receipt ? transfersIn(receipt) : [];
    expect(first).toEqual({ token: STRK, from: from.address, to: NOBODY, amount: 7n, eventIndex: 0 });
    expect(await chain.transactionStatus(tx.hash)).toMatchObject({ status: 'ACCEPTED_ON_L2', accepted: true });
    expect(await chain.balanceOf(STRK, NOBODY)).toBe(7n);
    const number = receipt?.blockNumber ?? -1;
    expect(await chain.block(number)).toMatchObject({ number, hash: receipt?.blockHash, timestamp: expect.any(Date) });
    expect(await chain.blockNumber()).toBeGreaterThanOrEqual(number);
    const latest = await chain.block('latest');
    expect(await chain.head()).toEqual({ number: latest?.number, hash: latest?.hash });
    expect(latest?.sequencer).toBeTypeOf('bigint');
    expect(await chain.block(1_000_000)).toBeUndefined();
  });

  it('counts a transaction that it has already as sent, and refuses another one with a used nonce', async () => {
    const nonce = await nextNonce(1);
    const tx = signedPayment(nonce);
    expect(await chain.send(tx)).toEqual({ outcome: 'sent' });
    expect(await chain.send(tx)).toEqual({ outcome: 'sent' });
    expect(await chain.send(signedPayment(nonce, undefined, 0xa1n))).toMatchObject({ outcome: 'refused', code: 52 });
  });

  it('says why it refuses and why it reverts', async () => {
    const forged = signedPayment(await nextNonce(1));
    const signature = ['0x1', '0x2'];
    const refused = await chain.send({ ...forged, transaction: { ...forged.transaction, signature } });
    expect(refused).toMatchObject({ outcome: 'refused', code: 55, reason: expect.stringContaining('validation') });
    await control('faults', { kind: 'revert', reason: 'out of luck' });
    const tx = signedPayment(await nextNonce(1));
    expect(await chain.send(tx)).toEqual({ outcome: 'sent' });
    const reverted = { status: 'REVERTED', accepted: true, revertReason: expect.stringContaining('out of luck') };
    expect(await chain.receipt(tx.hash)).toMatchObject(reverted);
    expect(await chain.transactionStatus(tx.hash)).toMatchObject(reverted);
  });

  it('shows what is in the open block as pending', async () => {
    await control('block-time', { seconds: 3600 });
    const from = relayer(3);
    const nonce = await nextNonce(3);
    const [next, ahead] = [signedPayment(nonce, from), signedPayment(nonce + 2n, from)];
    expect(await chain.send(next)).toEqual({ outcome: 'sent' });
    expect(await chain.send(ahead)).toEqual({ outcome: 'sent' });
    expect(await chain.receipt(next.hash)).toMatchObject({
      status: 'PENDING',
      accepted: false,
      blockNumber: undefined,
    });
    expect(await chain.transactionStatus(next.hash)).toMatchObject({ status: 'PENDING' });
    expect(await chain.transactionStatus(ahead.hash)).toMatchObject({ status: 'RECEIVED' });
    expect(await chain.nonceAt(from.address)).toBe(nonce);
    expect(await chain.nonceAt(from.address, 'pre_confirmed')).toBe(nonce + 1n);
    await control('block-time', { seconds: 0 });
  });

  it('estimates without a signature, and shows a revert before it costs anything', async () => {
    const nonce = await nextNonce(4);
    const { transaction } = signedPayment(nonce, relayer(4));
    const estimate = await chain.estimate({ ...transaction, signature: [] });
    expect(estimate).toMatchObject({ ok: true, l2Gas: { amount: expect.any(BigInt), price: expect.any(BigInt) } });
    const tooMuch = signed([transfer('USDC', NOBODY, 10n ** 30n)], { nonce, from: relayer(4) });
    const refusal = await chain.estimate(tooMuch.transaction);
    expect(refusal).toMatchObject({ ok: false, code: 41, reason: expect.stringMatching(/balance/i) });
  });

  it('turns the pages of events in order', async () => {
    const to = 0xcafen;
    for (let count = 0; count < 3; count += 1) await chain.send(signedPayment(await nextNonce(1), undefined, to));
    const filter = {
      fromBlock: 0,
      toBlock: 'latest',
      address: STRK,
      keys: [[TRANSFER_SELECTOR], [], [to]],
      limit: 2,
    } as const;
    const first = await chain.events(filter);
    expect(first.events).toHaveLength(2);
    expect(first.continuation).toBeDefined();
    const second = await chain.events({ ...filter, continuation: first.continuation });
    expect(second.events).toHaveLength(1);
    expect(second.continuation).toBeUndefined();
    const found = [...first.events, ...second.events];
    expect(found.map(({ blockNumber = 0 }) => blockNumber)).toEqual(
      found.map(({ blockNumber = 0 }) => blockNumber).sort((a, b) => a - b),
    );
    expect(found[0]).toMatchObject({ from: STRK, index: expect.any(Number), blockHash: expect.any(BigInt) });
    expect(() => chain.events({ ...filter, continuation: 'foreign' })).toThrow('not one of ours');
  });

  it('knows the class of nobody before and of a wallet after its deployment', async () => {
    const calldata = [classes.ready, 1n, 0n, 3n, 0n, 1n, 1n];
    const { address } = { address: 0x02ceed65a4bd731034c01113685c831b01c15d7d432f71afb1cf1634b53a2125n };
    const tx = signed([{ to: address, selector: selector('deploy_contract'), calldata }], {
      nonce: await nextNonce(1),
    });
    await chain.send(tx);
    const [event] = (await chain.receipt(tx.hash))?.events.filter(({ from }) => from === address) ?? [];
    expect(toHex((await chain.classHashAt(event?.data[0] ?? 0n)) ?? 0n)).toBe(toHex(classes.ready));
  });

  it('tells how contracts of a class can be called, asks once, and knows no class that was not declared', async () => {
    const requests: string[] = [];
    const counting = await startFaultyNode((request, response, body) => {
      requests.push(request.method);
      return behave.pass(sandbox.rpcUrl)(request, response, body);
    });
    const other = new RpcStarknetChain({ chainId: chainIds.SVC_SANDBOX, urls: [counting.url] });
    const entrypoints = await other.classEntrypoints(classes.ready);
    expect(entrypoints?.has(selector('execute_from_outside_v2'))).toBe(true);
    expect(entrypoints?.has(selector('add_or_update_session_key'))).toBe(false);
    expect(await other.classEntrypoints(classes.ready)).toBe(entrypoints);
    expect(await other.classEntrypoints(NOBODY)).toBeUndefined();
    expect(await other.classEntrypoints(NOBODY)).toBeUndefined();
    expect(requests).toEqual(['starknet_getClass', 'starknet_getClass', 'starknet_getClass']);
    await counting.stop();
  });

  it('is unavailable, not empty, while its only node is', async () => {
    await control('faults', { kind: 'unavailable', method: 'starknet_getClassHashAt' });
    await expect(chain.classHashAt(NOBODY)).rejects.toThrow(ChainUnavailableError);
    expect(await chain.classHashAt(NOBODY)).toBeUndefined();
  });
});
