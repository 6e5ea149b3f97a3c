import { chainIds } from '@svc/starknet';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { relayer, signedPayment, startSandbox } from '../../testing/chain.ts';
import { type Behaviour, behave, deadUrl, type FaultyNode, startFaultyNode } from '../../testing/faulty-node.ts';
import { ChainUnavailableError } from './node-fetch.ts';
import { RpcStarknetChain } from './starknet/rpc-chain.ts';

/** For nodes that hang; the others answer at once. */
const TIMEOUT_MS = 1_000;
let sandbox: Awaited<ReturnType<typeof startSandbox>>;
let real: RpcStarknetChain;
const running: FaultyNode[] = [];

beforeAll(async () => {
  sandbox = await startSandbox();
  real = chainOf([sandbox.rpcUrl]);
});
afterAll(() => sandbox.stop());
afterEach(async () => {
  await Promise.all(running.splice(0).map((node) => node.stop()));
});

async function node(behaviour: Behaviour): Promise<FaultyNode> {
  const started = await startFaultyNode(behaviour);
  running.push(started);
  return started;
}

const chainOf = (urls: readonly string[], timeoutMs?: number) =>
  new RpcStarknetChain({ chainId: chainIds.SVC_SANDBOX, urls, timeoutMs });

async function nextPayment() {
  return signedPayment((await real.nonceAt(relayer(1).address, 'pre_confirmed')) ?? 0n);
}

const sends = ({ requests }: FaultyNode) => requests.filter(({ method }) => method === 'starknet_addInvokeTransaction');

describe('a read', () => {
  it.each([
    ['hangs up', behave.hangUp],
    ['fails', behave.status(503)],
    ['talks nonsense', behave.text('nonsense')],
    ['answers what no nonce can be', behave.result({ surprise: true })],
    ['has no quota left', behave.error(-32000, 'daily request count exceeded')],
    ['does not know the key', behave.error(-32600, 'Must be authenticated')],
    ['has an error that the specification does not know', behave.error(-1, 'try again')],
  ])('goes to the second node when the first %s', async (_, behaviour) => {
    const first = await node(behaviour);
    expect(await chainOf([first.url, sandbox.rpcUrl]).nonceAt(relayer(2).address)).toBe(0n);
    expect(first.requests).toHaveLength(1);
  });

  it('goes to the second node when the first is too slow', async () => {
    const [first, second] = [await node(behave.hang), await node(behave.result('0x7'))];
    expect(await chainOf([first.url, second.url], TIMEOUT_MS).nonceAt(relayer(2).address)).toBe(7n);
  });

  it('takes the first node’s no for an answer', async () => {
    const [first, second] = [await node(behave.pass(sandbox.rpcUrl)), await node(behave.result('0x1'))];
    const chain = chainOf([first.url, second.url]);
    expect(await chain.nonceAt(0xdeadn)).toBeUndefined();
    expect(await chain.receipt(0xdeadn)).toBeUndefined();
    expect(await chain.call({ to: 0xdeadn, entrypoint: 'name' })).toMatchObject({ ok: false, code: 20 });
    expect(second.requests).toEqual([]);
  });

  it('never asks a node of another chain, also when it was away at the start', async () => {
    const other = await startFaultyNode(behave.result('0x99'), { chainId: '0x534e5f4d41494e' });
    running.push(other);
    expect(await chainOf([other.url, sandbox.rpcUrl]).nonceAt(relayer(2).address)).toBe(0n);
    expect(await chainOf([other.url]).send(await nextPayment())).toMatchObject({ outcome: 'unknown' });
    expect(other.requests).toEqual([]);
  });

  it('fails when no node answers', async () => {
    const first = await node(behave.status(500));
    await expect(chainOf([await deadUrl(), first.url]).blockNumber()).rejects.toThrow(ChainUnavailableError);
  });
});

describe('reads of the same moment', () => {
  const both = (chain: RpcStarknetChain) => Promise.all([chain.nonceAt(relayer(2).address), chain.nonceAt(0xdeadn)]);

  async function recording(behaviour: Behaviour) {
    const bodies: unknown[] = [];
    const recorder = await node((request, response, body) => {
      bodies.push(JSON.parse(body));
      return behaviour(request, response, body);
    });
    return { url: recorder.url, bodies };
  }

  it('go in one request, each with its own answer', async () => {
    const { url, bodies } = await recording(behave.pass(sandbox.rpcUrl));
    expect(await both(chainOf([url]))).toEqual([0n, undefined]);
    expect(bodies).toEqual([[expect.anything(), expect.anything()]]);
  });

  it.each([
    ['refuses batches', behave.status(400)],
    ['answers a batch with one error', behave.error(-32600, 'Batches are not supported')],
    ['answers a batch with one result', behave.result('0x7')],
    [
      'limits batches',
      behave.text(JSON.stringify([{ jsonrpc: '2.0', id: 0, error: { code: 31, message: 'too many' } }])),
    ],
  ])('are asked one by one of a node that %s, and after three times at once', async (_, refuse) => {
    const pass = behave.pass(sandbox.rpcUrl);
    const { url, bodies } = await recording((request, response, body) =>
      (body.startsWith('[') ? refuse : pass)(request, response, body),
    );
    const chain = chainOf([url]);
    for (let times = 0; times < 4; times += 1) expect(await both(chain)).toEqual([0n, undefined]);
    const tried = [true, false, false];
    expect(bodies.map((body) => Array.isArray(body))).toEqual([...tried, ...tried, ...tried, false, false]);
  });

  it('go to the second node together when the first hangs up', async () => {
    const first = await recording(behave.hangUp);
    const second = await recording(behave.pass(sandbox.rpcUrl));
    expect(await both(chainOf([first.url, second.url]))).toEqual([0n, undefined]);
    expect([first.bodies.length, second.bodies.length]).toEqual([1, 1]);
  });

  it('are not asked one by one of a node that answers too many requests', async () => {
    const { url, bodies } = await recording(behave.status(429));
    await expect(both(chainOf([url]))).rejects.toThrow(ChainUnavailableError);
    expect(bodies).toHaveLength(1);
  });

  it('fail alone where the answer to one cannot be read', async () => {
    const answers = [
      { jsonrpc: '2.0', id: 1, result: { surprise: true } },
      { jsonrpc: '2.0', id: 0, result: '0x5' },
    ];
    const { url } = await recording(behave.text(JSON.stringify(answers)));
    const chain = chainOf([url]);
    const [one, other] = await Promise.allSettled([chain.nonceAt(1n), chain.nonceAt(2n)]);
    expect(one).toEqual({ status: 'fulfilled', value: 5n });
    expect(other).toMatchObject({ status: 'rejected', reason: expect.any(ChainUnavailableError) });
  });
});

describe('pages of events', () => {
  const filter = { fromBlock: 0, toBlock: 'latest', limit: 1 } as const;

  it('come from the node that gave the first one, whichever is first in line', async () => {
    const [first, second] = [await node(behave.status(500)), await node(behave.pass(sandbox.rpcUrl))];
    await real.send(await nextPayment());
    const chain = chainOf([first.url, second.url]);
    const { continuation } = await chain.events(filter);
    expect(continuation).toMatch(/^1:/);
    const page = await chain.events({ ...filter, continuation });
    expect(page.events).toHaveLength(1);
    expect([first.requests.length, second.requests.length]).toEqual([1, 2]);
  });

  it('are not continued by another node', async () => {
    const other = await node(behave.result({ events: [] }));
    const chain = chainOf([await deadUrl(), other.url]);
    await expect(chain.events({ ...filter, continuation: '0:abc' })).rejects.toThrow(ChainUnavailableError);
    expect(other.requests).toEqual([]);
  });
});

describe('a send', () => {
  it('whose answer is lost goes to the next node under the same hash, and is on the chain once', async () => {
    const [first, second] = [await node(behave.loseAnswer(sandbox.rpcUrl)), await node(behave.pass(sandbox.rpcUrl))];
    const tx = await nextPayment();
    expect(await chainOf([first.url, second.url]).send(tx)).toEqual({ outcome: 'sent' });
    expect(sends(first)).toEqual(sends(second));
    expect(await real.transactionStatus(tx.hash)).toMatchObject({ status: 'ACCEPTED_ON_L2' });
    expect(await real.nonceAt(relayer(1).address)).toBe(BigInt(tx.transaction.nonce) + 1n);
  });

  it('whose only answer is lost is unknown, although it was taken', async () => {
    const first = await node(behave.loseAnswer(sandbox.rpcUrl));
    const tx = await nextPayment();
    const chain = chainOf([first.url]);
    expect(await chain.send(tx)).toMatchObject({ outcome: 'unknown' });
    expect(await real.transactionStatus(tx.hash)).toMatchObject({ status: 'ACCEPTED_ON_L2' });
    expect(await real.send(tx)).toEqual({ outcome: 'sent' });
  });

  it('that times out is unknown', async () => {
    const first = await node(behave.hang);
    expect(await chainOf([first.url], TIMEOUT_MS).send(await nextPayment())).toMatchObject({ outcome: 'unknown' });
    expect(sends(first)).toHaveLength(1);
  });

  it('that is refused is refused by the first who answers, and goes no further', async () => {
    const [first, second] = [
      await node(behave.error(55, 'Account validation failed', 'bad')),
      await node(behave.hangUp),
    ];
    expect(await chainOf([first.url, second.url]).send(await nextPayment())).toEqual({
      outcome: 'refused',
      code: 55,
      reason: 'Account validation failed: bad',
    });
    expect(second.requests).toEqual([]);
  });

  it('goes on to the next node when the first has no quota left', async () => {
    const [first, second] = [await node(behave.error(-32000, 'quota')), await node(behave.pass(sandbox.rpcUrl))];
    expect(await chainOf([first.url, second.url]).send(await nextPayment())).toEqual({ outcome: 'sent' });
    expect(sends(first)).toEqual(sends(second));
  });

  it('that may have been taken is not refused by what the next node says', async () => {
    const [first, second] = [await node(behave.hangUp), await node(behave.error(52, 'Invalid transaction nonce'))];
    const outcome = await chainOf([first.url, second.url]).send(await nextPayment());
    expect(outcome).toMatchObject({ outcome: 'unknown', reason: expect.stringContaining('refused it (52)') });
  });

  it('that surely reached nobody can be refused by the next node', async () => {
    const second = await node(behave.error(52, 'Invalid transaction nonce'));
    const outcome = await chainOf([await deadUrl(), second.url]).send(await nextPayment());
    expect(outcome).toMatchObject({ outcome: 'refused', code: 52 });
  });

  it.each([-32603, -32000, -32600, 1, 63, 429])(
    'that a node answers with error %s is unknown: it says nothing of the transaction',
    async (code) => {
      const first = await node(behave.error(code, 'An unexpected error occurred'));
      expect(await chainOf([first.url]).send(await nextPayment())).toMatchObject({ outcome: 'unknown' });
    },
  );

  it('that is answered with another hash is unknown', async () => {
    const first = await node(behave.result({ transaction_hash: '0x1' }));
    expect(await chainOf([first.url]).send(await nextPayment())).toMatchObject({
      outcome: 'unknown',
      reason: expect.stringContaining('another hash'),
    });
  });
});
