import { encodeOutsideExecution, selector, toHex, UDC_ADDRESS } from '@svc/starknet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SandboxServer, startSandbox } from '../../testing/sandbox-server.ts';
import { invoke, payment } from '../../testing/test-node.ts';
import { showTransaction } from '../chain/transaction.ts';
import { predeployed } from '../contracts/predeployed.ts';
import { currentSvcAccount } from '../contracts/svc-account.ts';
import { starknetToken } from '../tokens.ts';
import { describeClass, parseAbi } from './class-description.ts';

let server: SandboxServer;
beforeAll(async () => {
  server = await startSandbox();
});
afterAll(() => server.stop());

const get = async (path: string) => {
  const response = await fetch(`${server.url}/explorer/api/${path}`);
  return { status: response.status, body: JSON.parse(await response.text()) };
};
const post = async (path: string, body: unknown) => {
  const response = await fetch(server.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: JSON.parse(await response.text()) };
};
const rpc = (method: string, params: unknown, path = '/explorer/api/rpc') =>
  post(path, { jsonrpc: '2.0', id: 1, method: `starknet_${method}`, params });
const give = async (address: string, token = 'USDC') =>
  (await post('/faucet', { address, token, amount: '1' })).body.transactionHash as string;

describe("the explorer's own JSON-RPC", () => {
  it('reads like the node, and leaves ordered faults to others', async () => {
    await post('/starknet/faults', { kind: 'unavailable', method: 'starknet_blockNumber' });
    const own = await rpc('blockNumber', []);
    expect(own.body.result).toBeTypeOf('number');
    const fault = await fetch(`${server.url}/starknet/rpc`, {
      method: 'POST',
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'starknet_blockNumber', params: [] }),
    });
    expect(fault.status).toBe(503);
  });

  it('sends nothing', async () => {
    const sent = await rpc('addInvokeTransaction', [showTransaction(payment(0n))]);
    expect(sent.body.error).toMatchObject({ code: -32_601 });
  });
});

describe('transactions of an address', () => {
  it('are those that sent to it, newest first and page by page', async () => {
    const hashes = [await give('0xacc0'), await give('0xacc0', 'STRK'), await give('0xacc0')];
    await give('0xacc1');
    const first = (await get('transactions?address=0x0acc0&limit=2')).body;
    expect(first.data.map((one: { transactionHash: string }) => one.transactionHash)).toEqual([hashes[2], hashes[1]]);
    const second = (await get(`transactions?address=0xacc0&limit=2&cursor=${first.nextCursor}`)).body;
    expect(second).toMatchObject({
      data: [{ transactionHash: hashes[0], executionStatus: 'SUCCEEDED' }],
      nextCursor: null,
    });
  });

  it('include the ones that it sent, and those of a token its transfers', async () => {
    const hash = await give('0xacc2', 'DAI');
    const { body } = await get(`transactions?address=${toHex(predeployed.faucet.address)}&limit=1`);
    expect(body.data[0]).toMatchObject({ transactionHash: hash, transaction: { type: 'INVOKE' } });
    const ofToken = await get(`transactions?address=${toHex(starknetToken('DAI').address)}`);
    expect(ofToken.body.data).toMatchObject([{ transactionHash: hash }]);
  });

  it('include one that failed calling it, though it left no trace there', async () => {
    const account = 0xfa11edn;
    const calldata = encodeOutsideExecution({ caller: 1n, nonce: 1n, executeAfter: 0n, executeBefore: 1n, calls: [] }, [
      1n,
      2n,
    ]);
    const call = { to: account, selector: selector('execute_from_outside_v2'), calldata };
    const sent = await rpc('addInvokeTransaction', [showTransaction(invoke([call], { nonce: 0n }))], '/starknet/rpc');
    const { body } = await get('transactions?address=0xfa11ed');
    expect(body.data).toMatchObject([
      { transactionHash: sent.body.result.transaction_hash, executionStatus: 'REVERTED' },
    ]);
  });

  it.each(['address=nowhere', 'limit=0', 'cursor=-1', 'limit=ten'])('are refused for %s', async (query) => {
    expect(await get(`transactions?${query}`)).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
  });
});

describe('what is known by name', () => {
  it('are tokens, accounts of the service and classes with the selectors of their functions and events', async () => {
    const { body } = await get('contracts');
    expect(body.tokens).toContainEqual({
      token: 'USDC',
      name: 'USD Coin',
      symbol: 'USDC',
      decimals: 6,
      address: toHex(starknetToken('USDC').address),
    });
    expect(body.contracts).toContainEqual({ name: 'universal deployer', address: toHex(UDC_ADDRESS) });
    const svc = body.classes.find(
      ({ classHash }: { classHash: string }) => classHash === toHex(currentSvcAccount.classHash),
    );
    expect(svc.functions).toContainEqual(
      expect.objectContaining({
        name: 'execute_from_outside_v2',
        selector: toHex(selector('execute_from_outside_v2')),
        inputs: [
          { name: 'outside_execution', type: 'svc::OutsideExecution' },
          { name: 'signature', type: 'core::array::Span::<core::felt252>' },
        ],
      }),
    );
    expect(svc.events.map(({ name }: { name: string }) => name)).toContain('SessionKeyAdded');
    expect(svc.structs['svc::OutsideExecution']).toHaveLength(5);
    expect((await get(`classes/${svc.classHash}`)).body).toEqual(svc);
    expect((await get('classes/0x1')).status).toBe(404);
  });

  it('survives any ABI that was declared', () => {
    for (const abi of ['', '[', '{}', '[null, 1, {"type": "interface"}, {"type": "event", "kind": "struct"}]', 7]) {
      expect(describeClass(1n, 'any', parseAbi(abi)).classHash).toBe('0x1');
    }
  });
});
