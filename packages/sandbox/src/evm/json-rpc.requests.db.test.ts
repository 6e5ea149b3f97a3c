import { TestDatabase } from '@svc/store/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, migrations, post, type RunningApp, startApp } from '../../testing/evm-server.ts';

const STRANGER = '0x2222222222222222222222222222222222222222';

let database: TestDatabase;
let app: RunningApp;
beforeAll(async () => {
  database = await TestDatabase.create([migrations]);
  app = await startApp(database.db);
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

describe('the address', () => {
  it('takes the name of the chain in any case', async () => {
    for (const name of ['base', 'BASE', 'Base']) expect(await ask(app.rpcUrl(name), 'eth_chainId')).toBe('0x2105');
  });

  it.each(['starknet', 'ethereum', 'constructor', '__proto__'])('of a chain called %s leads nowhere', async (name) => {
    const { status, body } = await post(app.rpcUrl(name), { jsonrpc: '2.0', id: 1, method: 'eth_chainId' });
    expect(status).toBe(404);
    expect(body).toMatchObject({ error: 'not_found' });
  });
});

describe('requests', () => {
  const request = (method: string, params: unknown = [], id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params });

  it('in a batch are answered in order, each with its own id', async () => {
    const batch = [request('eth_chainId', [], 'a'), request('eth_nothing', [], 2), request('net_version', [], null)];
    expect((await post(app.rpcUrl('base'), batch)).body).toEqual([
      { jsonrpc: '2.0', id: 'a', result: '0x2105' },
      { jsonrpc: '2.0', id: 2, error: { code: -32_601, message: 'The method eth_nothing is not available.' } },
      { jsonrpc: '2.0', id: null, result: '8453' },
    ]);
  });

  it('without an id are done and not answered', async () => {
    const { id: _, ...silent } = request('eth_chainId');
    expect(await post(app.rpcUrl('base'), silent)).toEqual({ status: 204, body: undefined });
    expect((await post(app.rpcUrl('base'), [silent, request('net_version')])).body).toHaveLength(1);
  });

  it.each<[string, unknown, number]>([
    ['no JSON', '{"jsonrpc"', -32_700],
    ['an empty body', '', -32_700],
    ['a number', 5, -32_600],
    ['null', 'null', -32_600],
    ['an empty batch', [], -32_600],
    ['a batch within a batch', [[]], -32_600],
    ['an older version', { id: 1, method: 'eth_chainId' }, -32_600],
    ['no method', { jsonrpc: '2.0', id: 1 }, -32_600],
    ['an id that is an object', request('eth_chainId', [], {}), -32_600],
    ['parameters by name', request('eth_chainId', {}), -32_602],
    ['parameters that are missing', request('eth_getBalance'), -32_602],
    ['parameters of the wrong kind', request('eth_getBalance', [5, {}]), -32_602],
    ['half a surrogate pair', request('eth_getBalance', ['\ud800', 'latest']), -32_602],
    ['a transaction that is none', request('eth_sendRawTransaction', ['0x02']), -32_602],
    ['a transaction that is no hexadecimal', request('eth_sendRawTransaction', [{}]), -32_602],
    ['a transaction with blobs', request('eth_sendRawTransaction', ['0x03c0']), -32_602],
    ['a transaction that is too large', request('eth_sendRawTransaction', [`0x${'02'.repeat(131_073)}`]), -32_005],
    ['a batch that is too large', Array.from({ length: 101 }, () => request('eth_chainId')), -32_005],
    ['too many percentiles', request('eth_feeHistory', ['0x1', 'latest', Array(101).fill(1)]), -32_005],
    ['more gas than a block has', request('eth_call', [{ to: STRANGER, gas: '0xffffffff' }, 'latest']), -32_000],
  ])('that are %s get an error of JSON-RPC', async (_, body, code) => {
    const answer = await post(app.rpcUrl('base'), body);
    const response = Array.isArray(answer.body) ? answer.body[0] : answer.body;
    expect(answer.status).toBe(200);
    expect(response).toMatchObject({ jsonrpc: '2.0', error: { code } });
    expect(await ask(app.rpcUrl('base'), 'eth_chainId')).toBe('0x2105');
  });

  it('that are nested without end get an error too', async () => {
    const nested = `{"jsonrpc":"2.0","id":1,"method":"eth_getBalance","params":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
    expect((await post(app.rpcUrl('base'), nested)).body).toMatchObject({ error: { code: -32_602 } });
  });

  it.each([
    'hardhat_setBalance',
    'hardhat_impersonateAccount',
    'evm_mine',
    'evm_setNextBlockTimestamp',
    'debug_traceTransaction',
    'eth_sendTransaction',
    'eth_sign',
    'eth_accounts',
    'eth_newFilter',
    'eth_subscribe',
    'personal_sign',
    'constructor',
  ])('for %s are refused', async (method) => {
    const { body } = await post(app.rpcUrl('base'), request(method, [STRANGER, '0x1']));
    expect(body).toMatchObject({ error: { code: -32_601 } });
  });

  it('of any shape are answered', async () => {
    const anything = fc.oneof(
      fc.json(),
      fc.record({
        jsonrpc: fc.constant('2.0'),
        id: fc.integer(),
        method: fc.constantFrom(
          'eth_call',
          'eth_getLogs',
          'eth_getBlockByNumber',
          'eth_feeHistory',
          'eth_sendRawTransaction',
        ),
        params: fc.jsonValue(),
      }),
    );
    await fc.assert(
      fc.asyncProperty(anything, async (body) => {
        expect((await post(app.rpcUrl('arbitrum'), body)).status).toBeLessThan(300);
      }),
      { numRuns: 200 },
    );
  });

  it('elsewhere in the application are read as before', async () => {
    expect((await post(`${app.address}/echo`, { read: 'as JSON' })).body).toEqual({ read: 'as JSON' });
  });
});
