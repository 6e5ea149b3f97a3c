import { selector, toHex } from '@svc/starknet';
import { describe, expect, it, vi } from 'vitest';
import { type FakeNodes, fakeNodes, type NodeAnswer, nodeClient } from '../../testing/fake-nodes.ts';
import { callContract, chainTime, classHashAt } from './rpc.ts';

const call = { contractAddress: 0xcafen, entrypoint: 'get_public_key', calldata: [1n, 2n] };
const read = (nodes: FakeNodes, urls?: readonly string[]) => callContract(nodeClient(nodes.fetch, urls), call);
const refusing = (code: number, data?: unknown) => fakeNodes(() => ({ error: { code, message: 'No', data } }));

describe('reading from a contract', () => {
  it('calls the function by its selector on the pre-confirmed block', async () => {
    const nodes = fakeNodes(() => ({ result: ['0x5', '0x06'] }));
    expect(await read(nodes)).toEqual([5n, 6n]);
    const request = {
      contract_address: '0xcafe',
      entry_point_selector: toHex(selector('get_public_key')),
      calldata: ['0x1', '0x2'],
    };
    expect(nodes.requests).toMatchObject([{ method: 'starknet_call', params: { request, block_id: 'pre_confirmed' } }]);
  });

  it.each([-32602, 24])('uses the latest block where the node lacks the pre-confirmed one (%d)', async (code) => {
    const nodes = fakeNodes(({ params }) =>
      params.block_id === 'latest' ? { result: ['0x5'] } : { error: { code, message: 'No' } },
    );
    expect(await read(nodes)).toEqual([5n]);
  });

  it.each([
    ['contract_not_found', 20, undefined],
    ['entrypoint_not_found', 21, undefined],
    [
      'entrypoint_not_found',
      40,
      { revert_error: "0x454e545259504f494e545f4e4f545f464f554e44 ('ENTRYPOINT_NOT_FOUND')" },
    ],
    ['entrypoint_not_found', 40, { revert_error: '["0x454e545259504f494e545f4e4f545f464f554e44"]' }],
    ['call_failed', 40, { revert_error: 'Index out of bounds' }],
  ])('is a SvcChainError %s for the chain error %d, without trying another node', async (code, rpcCode, data) => {
    const nodes = refusing(rpcCode, data);
    await expect(read(nodes, ['https://one.example', 'https://two.example'])).rejects.toMatchObject({
      name: 'SvcChainError',
      code,
    });
    expect(new Set(nodes.requests.map(({ url }) => url)).size).toBe(1);
  });

  it('shows the innermost reason', async () => {
    const nested = {
      revert_error: { contract_address: '0x1', error: { contract_address: '0x2', error: 'deep down' } },
    };
    await expect(read(refusing(40, nested))).rejects.toThrow('deep down');
  });

  it('spells a reason that the node answers as felts', async () => {
    const revert_error = { contract_address: '0x1', error: '["0x4163636f756e743a20756e617574686f72697a6564"]' };
    await expect(read(refusing(40, { revert_error }))).rejects.toThrow("('Account: unauthorized')");
  });

  it.each<[string, NodeAnswer]>([
    ['not a list', { result: '0x5' }],
    ['not felts', { result: ['0x5', 6] }],
    ['beyond the field', { result: [`0x${'f'.repeat(64)}`] }],
  ])('tries the next node when the answer is %s', async (_name, bad) => {
    const nodes = fakeNodes(({ url }) => (url === 'https://one.example' ? bad : { result: ['0x7'] }));
    expect(await read(nodes, ['https://one.example', 'https://two.example'])).toEqual([7n]);
  });
});

describe('a node', () => {
  it('gets no cookies, and its redirects are not followed', async () => {
    const inits: (RequestInit | undefined)[] = [];
    const { fetch } = fakeNodes(() => ({ result: ['0x5'] }));
    const watched: typeof fetch = (url, init) => {
      inits.push(init);
      return fetch(url, init);
    };
    await callContract(nodeClient(watched), call);
    expect(inits[0]).toMatchObject({ credentials: 'omit', redirect: 'manual' });
  });

  it('gets none of the options that edge runtimes refuse', async () => {
    vi.stubGlobal('Request', class {});
    const inits: (RequestInit | undefined)[] = [];
    const { fetch } = fakeNodes(() => ({ result: ['0x5'] }));
    const watched: typeof fetch = (url, init) => {
      inits.push(init);
      return fetch(url, init);
    };
    await callContract(nodeClient(watched), call);
    vi.unstubAllGlobals();
    expect(Object.keys(inits[0] ?? {}).sort()).toEqual(['body', 'headers', 'method', 'redirect', 'signal']);
  });
});

describe('the class at an address', () => {
  it('is its hash', async () => {
    const { fetch } = fakeNodes(() => ({ result: '0x0123' }));
    expect(await classHashAt(nodeClient(fetch), 1n)).toBe(0x123n);
  });

  it('is undefined where no contract is deployed', async () => {
    expect(await classHashAt(nodeClient(refusing(20).fetch), 1n)).toBeUndefined();
  });

  it('is an error when the node fails', async () => {
    await expect(classHashAt(nodeClient(refusing(24).fetch), 1n)).rejects.toMatchObject({ code: 'call_failed' });
  });
});

describe('the time of the chain', () => {
  it('is that of the pre-confirmed block', async () => {
    const { fetch, requests } = fakeNodes(() => ({ result: { timestamp: 1_700_000_000 } }));
    expect(await chainTime(nodeClient(fetch))).toBe(1_700_000_000n);
    expect(requests).toMatchObject([{ params: { block_id: 'pre_confirmed' } }]);
  });

  it('is an error when the node fails', async () => {
    await expect(chainTime(nodeClient(refusing(24).fetch))).rejects.toMatchObject({ code: 'call_failed' });
  });
});
