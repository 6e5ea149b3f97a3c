import path from 'node:path';
import { ApiError } from '@svc/protocol';
import type { Db, MigrationSet } from '@svc/store';
import Fastify, { type FastifyError } from 'fastify';
import { createPublicClient, createWalletClient, defineChain, http } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { type EvmChains, type EvmOptions, registerEvm } from '../src/evm/chains.ts';
import { type EvmChain, evmChains } from '../src/evm/tokens.ts';

export const migrations: MigrationSet = {
  name: 'sandbox',
  folder: path.resolve(import.meta.dirname, '../migrations'),
};

/** The EVM chains behind HTTP. */
export async function startApp(db: Db, options?: EvmOptions) {
  const app = Fastify();
  const failures: unknown[] = [];
  app.setErrorHandler((error: FastifyError | ApiError, _request, reply) => {
    failures.push(error);
    const known = error instanceof ApiError ? error : new ApiError('internal_error');
    return reply.code(known.status).send({ error: known.code, message: known.message });
  });
  app.post('/echo', async ({ body }) => body);
  const chains: EvmChains = registerEvm(app, db, options);
  const address = await app.listen({ host: '127.0.0.1', port: 0 });
  const rpcUrl = (chain: string) => `${address}/evm/${chain}/rpc`;
  return { app, chains, failures, address, rpcUrl, close: () => app.close() };
}

export type RunningApp = Awaited<ReturnType<typeof startApp>>;

/** A new key, and viem clients for the chain. */
export function walletOn(app: RunningApp, chain: EvmChain, id = evmChains[chain].id) {
  const rpcUrl = app.rpcUrl(chain.toLowerCase());
  const definition = defineChain({
    id,
    name: chain,
    nativeCurrency: { name: 'Coin', symbol: 'COIN', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  });
  const account = privateKeyToAccount(generatePrivateKey());
  const transport = http(rpcUrl, { retryCount: 0 });
  const reader = createPublicClient({ chain: definition, transport, pollingInterval: 10, cacheTime: 0 });
  const wallet = createWalletClient({ chain: definition, transport, account });
  return { account, reader, wallet, chain: definition };
}

export function tokenOn(chain: EvmChain, token: string): `0x${string}` {
  const found = evmChains[chain].tokens.find((item) => item.token === token);
  if (!found) throw new Error(`${chain} has no ${token}`);
  return found.address;
}

/** Posts any body, valid or not. */
export async function post(url: string, body: unknown): Promise<{ status: number; body: unknown }> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: text });
  const answer = await response.text();
  return { status: response.status, body: answer === '' ? undefined : JSON.parse(answer) };
}

/** Throws if the answer is an error. */
export async function ask(url: string, method: string, params: unknown[] = []): Promise<unknown> {
  const { body } = await post(url, { jsonrpc: '2.0', id: 1, method, params });
  if (typeof body !== 'object' || body === null || !('result' in body)) throw new Error(JSON.stringify(body));
  return body.result;
}
