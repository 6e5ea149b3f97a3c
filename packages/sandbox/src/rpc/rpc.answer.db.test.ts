import { toHex } from '@svc/starknet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { relayer, startTestNode, type TestNode } from '../../testing/test-node.ts';

let test: TestNode;
beforeAll(async () => {
  test = await startTestNode();
});
afterAll(() => test.stop());

async function ask(body: unknown): Promise<unknown> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return JSON.parse((await test.node.rpc(text, '0.10.0')).body);
}

const call = (method: string, params?: unknown, id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params });
const failed = (code: number, id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message: expect.any(String) },
});

describe('JSON-RPC', () => {
  it.each([
    ['no JSON', '{"jsonrpc":', -32_700, null],
    ['an empty body', '', -32_700, null],
    ['a text', '"hello"', -32_600, null],
    ['null', 'null', -32_600, null],
    ['a version that is not 2.0', { id: 1, method: 'starknet_chainId' }, -32_600, 1],
    ['a method that is no text', { jsonrpc: '2.0', id: 1, method: 5 }, -32_600, 1],
    ['an unknown method', call('starknet_nothing'), -32_601, 1],
    ['a method that every object has', call('constructor'), -32_601, 1],
    ['too many parameters', call('starknet_chainId', [1]), -32_602, 1],
    ['parameters that are a text', call('starknet_chainId', 'x'), -32_602, 1],
    ['a missing parameter', call('starknet_getNonce', {}), -32_602, 1],
    ['an empty batch', [], -32_600, null],
  ])('answers %s with its error', async (_name, body, code, id) => {
    expect(await ask(body)).toMatchObject(failed(code, id));
  });

  it('takes parameters by name and by position', async () => {
    const contract_address = toHex(relayer(1).address);
    expect(await ask(call('starknet_getNonce', { block_id: 'latest', contract_address }))).toMatchObject({
      result: '0x0',
    });
    expect(await ask(call('starknet_getNonce', ['latest', contract_address]))).toMatchObject({ result: '0x0' });
  });

  it('gives the id back as it came, a text or a number', async () => {
    expect(await ask(call('starknet_syncing', [], 'abc'))).toEqual({ jsonrpc: '2.0', id: 'abc', result: false });
    expect(await ask(call('starknet_syncing', [], 0))).toEqual({ jsonrpc: '2.0', id: 0, result: false });
  });

  it('answers a batch in its order, with errors in their places', async () => {
    const batch = [
      call('starknet_blockNumber', [], 1),
      call('starknet_nothing', [], 2),
      5,
      call('starknet_syncing', [], 3),
    ];
    expect(await ask(batch)).toMatchObject([
      { id: 1, result: 0 },
      failed(-32_601, 2),
      failed(-32_600, null),
      { id: 3 },
    ]);
  });

  it('refuses a batch of more than 100 calls', async () => {
    const batch = Array.from({ length: 101 }, (_, id) => call('starknet_syncing', [], id));
    expect(await ask(batch)).toMatchObject(failed(-32_600, null));
    expect(await ask(batch.slice(1))).toHaveLength(100);
  });

  it('names the version of the path', async () => {
    expect(await test.call('specVersion', [], '0.9.0')).toBe('0.9.0');
    expect(await test.call('specVersion')).toBe('0.10.0');
  });
});
