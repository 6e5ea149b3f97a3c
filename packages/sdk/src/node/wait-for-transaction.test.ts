import { describe, expect, it } from 'vitest';
import { type FakeNodes, fakeNodes, fakeRuntime, type NodeAnswer, nodeClient } from '../../testing/fake-nodes.ts';
import { type WaitForTransactionOptions, waitForTransaction, waitForTransactionOf } from './wait-for-transaction.ts';

const HASH = '0xabc';
const ONE = 'https://one.example/secret-path';
const TWO = 'https://two.example/rpc';
const transfer = { from_address: '0x1', keys: ['0x2'], data: ['0x3', '0x0'] };
const unknown: NodeAnswer = { error: { code: 29, message: 'Transaction hash not found' } };

const receipt = (more: object = {}): NodeAnswer => ({
  result: {
    transaction_hash: '0x0abc',
    execution_status: 'SUCCEEDED',
    finality_status: 'ACCEPTED_ON_L2',
    block_number: 7,
    events: [transfer],
    ...more,
  },
});

/** Answers in order; the last one repeats. */
function answering(...answers: (NodeAnswer | (() => NodeAnswer))[]): FakeNodes {
  let turn = 0;
  return fakeNodes(() => {
    const next = answers[Math.min(turn++, answers.length - 1)] ?? unknown;
    return typeof next === 'function' ? next() : next;
  });
}

function wait({ fetch }: FakeNodes, options: WaitForTransactionOptions = {}, runtime = fakeRuntime()) {
  return waitForTransaction(HASH, { nodeUrl: ONE, fetch, runtime, ...options });
}

describe('the result of a transaction', () => {
  it('is returned once it is accepted, with its events and block', async () => {
    expect(await wait(answering(receipt()))).toEqual({
      transactionHash: HASH,
      success: true,
      executionStatus: 'SUCCEEDED',
      finalityStatus: 'ACCEPTED_ON_L2',
      events: [transfer],
      blockNumber: 7,
    });
  });

  it('is a success on L1 too', async () => {
    expect(await wait(answering(receipt({ finality_status: 'ACCEPTED_ON_L1' })))).toMatchObject({ success: true });
  });

  it('is returned for a revert: no success, no events, the reason', async () => {
    const reverted = receipt({ execution_status: 'REVERTED', revert_reason: 'out of luck' });
    expect(await wait(answering(reverted))).toEqual({
      transactionHash: HASH,
      success: false,
      executionStatus: 'REVERTED',
      finalityStatus: 'ACCEPTED_ON_L2',
      revertReason: 'out of luck',
      events: [],
      blockNumber: 7,
    });
  });

  it('has a reason even if the node gives none', async () => {
    expect(await wait(answering(receipt({ execution_status: 'REVERTED' })))).toHaveProperty('revertReason', '');
  });

  it('is no success for a rejected transaction', async () => {
    const { success, events } = await wait(answering(receipt({ finality_status: 'REJECTED' })));
    expect({ success, events }).toEqual({ success: false, events: [] });
  });

  it.each(['RECEIVED', 'PENDING', 'PRE_CONFIRMED', 'SOMETHING_NEW'])(
    'is awaited while the status is %s',
    async (status) => {
      const early = receipt({ finality_status: status, execution_status: 'REVERTED' });
      const nodes = answering(early, receipt());
      expect(await wait(nodes)).toMatchObject({ success: true });
      expect(nodes.requests).toHaveLength(2);
    },
  );

  it('is awaited while no node knows the hash', async () => {
    const runtime = fakeRuntime();
    expect(await wait(answering(unknown, unknown, receipt()), {}, runtime)).toMatchObject({ success: true });
    expect(runtime.sleeps).toEqual([3_000, 3_000]);
  });
});

describe('a timeout', () => {
  it('is thrown after 300000 ms, and not before', async () => {
    const runtime = fakeRuntime();
    await expect(wait(answering(unknown), {}, runtime)).rejects.toMatchObject({
      name: 'SvcConnectionError',
      code: 'timeout',
    });
    expect(runtime.sleeps).toEqual(Array.from({ length: 100 }, () => 3_000));
  });

  it('follows the options, with a last request at the deadline', async () => {
    const runtime = fakeRuntime();
    const options = { retryIntervalMs: 400, timeoutMs: 1_000 };
    await expect(wait(answering(unknown), options, runtime)).rejects.toMatchObject({ code: 'timeout' });
    expect(runtime.sleeps).toEqual([400, 400, 200]);
  });

  it('gives way to an abort by the caller at once', async () => {
    const controller = new AbortController();
    const nodes = fakeNodes(() => {
      controller.abort(new Error('left the page'));
      return unknown;
    });
    await expect(wait(nodes, { signal: controller.signal })).rejects.toThrow('left the page');
    expect(nodes.requests).toHaveLength(1);
  });
});

const failures: Record<string, () => NodeAnswer> = {
  'that cannot be reached': () => new TypeError('fetch failed'),
  'that answers 500': () => Response.json({ jsonrpc: '2.0', id: 1, result: null }, { status: 500 }),
  'that answers 429': () => Response.json({ jsonrpc: '2.0', id: 1, error: { code: 29, message: '' } }, { status: 429 }),
  'that is a page': () => new Response('<html>'),
  'that leads elsewhere': () =>
    Response.json({ jsonrpc: '2.0', id: 1, ...receipt() }, { status: 307, headers: { location: TWO } }),
  'that has an internal error': () => ({ error: { code: -32603, message: 'Internal error' } }),
  'that lacks the method': () => ({ error: { code: -32601, message: 'Method not found' } }),
  'that tells of another transaction': () => receipt({ transaction_hash: '0xabd' }),
  'whose events are not events': () => receipt({ events: [{ from_address: 'x', keys: [], data: [] }] }),
};

describe('a node', () => {
  it.each(Object.entries(failures))('%s is passed over for the next', async (_name, failure) => {
    const nodes = fakeNodes(({ url }) => (url === ONE ? failure() : receipt()));
    expect(await wait(nodes, { nodeUrl: [ONE, TWO] })).toMatchObject({ success: true });
    expect(nodes.requests.map(({ url }) => url)).toEqual([ONE, TWO]);
  });

  it('that does not know the hash is not an error', async () => {
    const nodes = answering(unknown, receipt());
    await wait(nodes, { nodeUrl: [ONE, TWO] });
    expect(nodes.requests.map(({ url }) => url)).toEqual([ONE, ONE]);
  });

  it('that is unreachable for four rounds is retried', async () => {
    const gone = () => new TypeError('fetch failed');
    const nodes = answering(gone, gone, gone, gone, unknown, gone, gone, gone, gone, receipt());
    expect(await wait(nodes)).toMatchObject({ success: true });
  });

  it('that is unreachable for five rounds is an error that names only its host', async () => {
    const nodes = answering(() => new TypeError('fetch failed'));
    const error = await wait(nodes).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'SvcConnectionError', code: 'connection_failed' });
    expect(String(error)).toContain('one.example');
    expect(String(error)).not.toContain('secret-path');
    expect(nodes.requests).toHaveLength(5);
  });
});

describe('a call', () => {
  it.each([
    ['no node', HASH, {}],
    ['an empty list of nodes', HASH, { nodeUrl: [] }],
    ['an address that is none', HASH, { nodeUrl: 'one.example' }],
    ['a hash that is none', 'hash', { nodeUrl: ONE }],
    ['an interval that is none', HASH, { nodeUrl: ONE, retryIntervalMs: Number.NaN }],
    ['an interval that leaves no pause', HASH, { nodeUrl: ONE, retryIntervalMs: 9 }],
    ['a timeout below zero', HASH, { nodeUrl: ONE, timeoutMs: -1 }],
  ])('with %s is refused, and nothing is sent', async (_name, hash, options) => {
    const nodes = answering(receipt());
    await expect(waitForTransaction(hash, { ...options, fetch: nodes.fetch })).rejects.toMatchObject({
      name: 'SvcInputError',
    });
    expect(nodes.requests).toEqual([]);
  });

  it("by a client tries the nodes of the options, then its own, then the service's", async () => {
    const requests: string[] = [];
    const client = nodeClient(
      async (url) => {
        requests.push(url);
        if (url.endsWith('/config')) return Response.json({ rpcUrl: 'https://three.example' });
        if (url !== 'https://three.example') return new Response('', { status: 503 });
        return Response.json({ jsonrpc: '2.0', id: 1, ...receipt() });
      },
      [TWO],
    );
    expect(await waitForTransactionOf(client, HASH, { nodeUrl: ONE })).toMatchObject({ success: true });
    expect(requests).toEqual([ONE, TWO, 'https://svc.example/v1/config', 'https://three.example']);
  });
});
