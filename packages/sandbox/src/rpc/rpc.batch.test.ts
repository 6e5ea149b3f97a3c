import { describe, expect, it } from 'vitest';
import { answerRpc, type RpcDeps } from './rpc.ts';

describe('a batch', () => {
  it('is answered call by call where the database is gone', async () => {
    const reported: unknown[] = [];
    const deps = {
      db: {},
      readHead: async () => {
        throw new Error('The connection is gone.');
      },
      report: (error: unknown) => reported.push(error),
    } as unknown as RpcDeps;
    const call = (id: number, method: string) => ({ jsonrpc: '2.0', id, method, params: [] });
    const body = JSON.stringify([call(1, 'starknet_chainId'), call(2, 'starknet_nothing')]);
    const { status, body: text } = await answerRpc(deps, body, '0.10.0');
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject([
      { id: 1, error: { code: -32603 } },
      { id: 2, error: { code: -32601 } },
    ]);
    expect(reported).toHaveLength(1);
  });
});
