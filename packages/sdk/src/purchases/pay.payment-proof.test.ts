import { ANY_CALLER, chainIds, toHex } from '@svc/starknet';
import { describe, expect, it } from 'vitest';
import { createClient } from '../client/client.ts';
import { readPaymentProof } from './pay.ts';

const BEFORE = 1_793_642_400n;
const execution = { caller: ANY_CALLER, nonce: 0x77n, executeAfter: BEFORE - 3_600n, executeBefore: BEFORE, calls: [] };

interface Chain {
  readonly chainId?: bigint;
  readonly nodeChainId?:
    | { readonly result: unknown }
    | { readonly error: { readonly code: number; readonly message: string } };
  readonly timestamp: bigint;
  readonly nonce:
    | { readonly result: unknown }
    | { readonly error: { readonly code: number; readonly message: string } };
}

/** A live chain of one block. Returns the requests as well. */
async function ask({
  chainId = chainIds.SN_SEPOLIA,
  nodeChainId = { result: toHex(chainId) },
  timestamp,
  nonce,
}: Chain) {
  const requests: { method: string; params: Record<string, unknown> }[] = [];
  const client = createClient({
    baseUrl: 'https://svc.test/v1',
    publicKey: `pk_dev_${'a'.repeat(32)}`,
    nodeUrl: 'https://node.test',
    maxRetries: 0,
    fetch: async (url, init) => {
      if (url.endsWith('/config')) return Response.json({ chainId: toHex(chainId), rpcUrl: 'https://other-node.test' });
      const call = JSON.parse(String(init?.body));
      if (call.method === 'starknet_chainId') return Response.json({ jsonrpc: '2.0', id: 1, ...nodeChainId });
      requests.push(call);
      const block = { result: { timestamp: Number(timestamp), block_hash: '0xb10c' } };
      return Response.json({ jsonrpc: '2.0', id: 1, ...(call.method === 'starknet_call' ? nonce : block) });
    },
  });
  return { proof: await readPaymentProof(client, 5n, execution), requests };
}

const unspent = { result: ['0x1'] };
const refused = (code: number) => ({ error: { code, message: 'no' } });

describe('readPaymentProof', () => {
  it.each([
    ['spent when the wallet has used the nonce', BEFORE - 10n, { result: ['0x0'] }, 'executed'],
    ['spent also long after the window', BEFORE + 10_000n, { result: ['0x0'] }, 'executed'],
    ['open within the window', BEFORE - 1n, unspent, 'possible'],
    ['open just after it, while blocks may be replaced', BEFORE + 599n, unspent, 'possible'],
    ['never once blocks after it have settled', BEFORE + 600n, unspent, 'impossible'],
    ['never when no wallet stands there', BEFORE + 600n, refused(20), 'impossible'],
    ['untold by a wallet without the function', BEFORE + 600n, refused(21), 'unknown'],
    ['untold by a wallet that fails', BEFORE + 600n, refused(40), 'unknown'],
    ['untold by a node that lost the block', BEFORE + 600n, refused(24), 'unknown'],
    ['untold by an answer that is no yes or no', BEFORE + 600n, { result: ['0x2'] }, 'unknown'],
    ['untold by an answer with too much in it', BEFORE + 600n, { result: ['0x1', '0x1'] }, 'unknown'],
  ] as const)('is %s', async (_, timestamp, nonce, expected) => {
    expect((await ask({ timestamp, nonce })).proof).toBe(expected);
  });

  it.each([
    ['of another chain', { result: toHex(chainIds.SN_MAIN) }],
    ['that does not say its chain', refused(40)],
  ])('is unknown on a node %s, where the wallet does not exist', async (_, nodeChainId) => {
    const { proof, requests } = await ask({ nodeChainId, timestamp: BEFORE + 600n, nonce: refused(20) });
    expect(proof).toBe('unknown');
    expect(requests).toEqual([]);
  });

  it('reads the nonce at the block whose time is compared', async () => {
    const { requests } = await ask({ timestamp: BEFORE, nonce: unspent });
    expect(requests.map(({ params }) => params.block_id)).toEqual(['latest', { block_hash: '0xb10c' }]);
  });

  it('uses the pre-confirmed block in the sandbox, which creates blocks only on activity', async () => {
    const { requests } = await ask({ chainId: chainIds.SVC_SANDBOX, timestamp: BEFORE, nonce: unspent });
    expect(requests.map(({ params }) => params.block_id)).toEqual(['pre_confirmed', 'pre_confirmed']);
  });

  it('throws when no node answers', async () => {
    await expect(ask({ timestamp: BEFORE, nonce: refused(-32_603) })).rejects.toMatchObject({
      code: 'connection_failed',
    });
  });
});
