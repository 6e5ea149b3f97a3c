import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SandboxServer, startSandbox } from '../../testing/sandbox-server.ts';
import { payment } from '../../testing/test-node.ts';
import { showTransaction } from '../chain/transaction.ts';

let server: SandboxServer;
beforeAll(async () => {
  server = await startSandbox();
});
afterAll(() => server.stop());

async function send(path: string, body?: unknown, method = 'POST') {
  const response = await fetch(server.url + path, {
    method,
    ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, text, json: () => JSON.parse(text) };
}

const rpc = (method: string, params: unknown = [], path = '/starknet/rpc') =>
  send(path, { jsonrpc: '2.0', id: 1, method: `starknet_${method}`, params });

describe('the sandbox over HTTP', () => {
  it('pays from the faucet, and the tokens are there when it answers', async () => {
    const paid = await send('/faucet', { address: '0xfa0ce7', token: 'WBTC', amount: '0.5' });
    expect(paid.status).toBe(200);
    const receipt = await rpc('getTransactionReceipt', [paid.json().transactionHash]);
    expect(receipt.json().result).toMatchObject({ execution_status: 'SUCCEEDED' });
    const transfer = receipt.json().result.events.find((event: { data: string[] }) => event.data[0] === '0x2faf080');
    expect(transfer.keys[2]).toBe('0xfa0ce7');
  });

  it('pays on an EVM chain', async () => {
    const address = '0x00000000000000000000000000000000000000aa';
    const paid = await send('/faucet', { chain: 'BASE', address, token: 'USDC', amount: '3' });
    expect(paid.json()).toEqual({ transactionHash: expect.stringMatching(/^0x[0-9a-f]{64}$/) });
  });

  it('says in a sentence what is wrong with a request', async () => {
    const refused = await send('/faucet', { address: '0x1', token: 'USDC', amount: '1e3' });
    expect(refused.status).toBe(400);
    expect(refused.json()).toEqual({
      error: 'invalid_request',
      message: 'body.amount must be a plain decimal number such as 12 or 0.5.',
    });
  });

  it('shows the chain, its settings and its accounts', async () => {
    const shown = (await send('/starknet', undefined, 'GET')).json();
    expect(shown).toMatchObject({ chainId: '0x5356435f53414e44424f58', blockSeconds: 0, offsetSeconds: 0 });
    expect(shown.accounts.map((account: { label: string }) => account.label)).toEqual([
      'relayer 1',
      'relayer 2',
      'relayer 3',
      'relayer 4',
      'manager',
      'faucet',
    ]);
  });

  it('obeys the controls', async () => {
    const { blockNumber } = (await send('/starknet', undefined, 'GET')).json();
    expect((await send('/starknet/mine', { blocks: 2 })).json().blockNumber).toBe(blockNumber + 2);
    expect((await send('/starknet/reorg', { blocks: 1, transactions: 'drop' })).json().blockNumber).toBe(
      blockNumber + 1,
    );
    expect((await send('/starknet/time', { offsetSeconds: 100 })).json().offsetSeconds).toBe(100);
    expect((await send('/starknet/time', { offsetSeconds: 0 })).json().offsetSeconds).toBe(0);
    expect((await send('/starknet/block-time', { seconds: 0 })).json().blockSeconds).toBe(0);
    const ordered = await send('/starknet/faults', { kind: 'stale', blocks: 1, method: 'starknet_nothing' });
    expect(ordered.json()).toMatchObject({ kind: 'stale', blocks: 1, remaining: 1 });
    expect((await send('/starknet/faults', undefined, 'GET')).json().faults).toHaveLength(1);
    expect((await send('/starknet/faults', undefined, 'DELETE')).json()).toEqual({ faults: [] });
  });

  it('serves the versions of the specification under their paths, and no others', async () => {
    expect((await rpc('specVersion', [], '/starknet/rpc/v0_9')).json().result).toBe('0.9.0');
    expect((await rpc('specVersion', [], '/starknet/rpc/v0_10')).json().result).toBe('0.10.0');
    const unknown = await rpc('specVersion', [], '/starknet/rpc/v0_1');
    expect([unknown.status, unknown.json().error]).toEqual([404, 'not_found']);
  });

  it('takes JSON-RPC of any content type and refuses more than 1 MiB', async () => {
    const plain = await fetch(`${server.url}/starknet/rpc`, {
      method: 'POST',
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'starknet_chainId' }),
    });
    expect(await plain.json()).toMatchObject({ result: '0x5356435f53414e44424f58' });
    const large = await rpc('call', ['x'.repeat(1024 * 1024)]);
    expect(large.status).toBe(413);
    expect(large.json()).toMatchObject({ id: null, error: { code: -32_600 } });
  });

  it('closes the connection where the answer was ordered to be lost', async () => {
    await send('/starknet/faults', { kind: 'lose-answer' });
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'starknet_addInvokeTransaction',
      params: [showTransaction(payment(0n))],
    });
    const outcome = await new Promise((resolve) => {
      const sent = request(`${server.url}/starknet/rpc`, { method: 'POST' }, (response) =>
        resolve(response.statusCode),
      );
      sent.on('error', (error) => resolve('code' in error ? error.code : error.message));
      sent.end(body);
    });
    expect(outcome).toBe('ECONNRESET');
    expect(server.complaints).toEqual([]);
  });
});
