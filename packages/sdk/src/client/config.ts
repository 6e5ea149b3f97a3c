import type { AnswerOf, endpoints } from '@svc/protocol';
import type { Client } from './client.ts';
import { request } from './request.ts';

/** The network, its tokens and wallet classes. */
export type Config = AnswerOf<typeof endpoints.getConfig>;

interface CachedConfig {
  readonly config: Promise<Config>;
  readonly atMs: number;
}

/** Changes by the operator (payment address, wallet class) reach a long-running server within this time. */
const CACHE_MS = 300_000;

const cache = new WeakMap<Client, CachedConfig>();

/**
 * Reads the network, token addresses and wallet classes. A client caches the answer for five minutes.
 *
 * @example
 * const { network, tokens } = await svc.getConfig();
 */
export function getConfig(client: Client): Promise<Config> {
  const cached = cache.get(client);
  if (cached && client.runtime.now() - cached.atMs < CACHE_MS) return cached.config;
  return getNewConfig(client);
}

/** Without the cache, for what an operator changes at any time. */
export function getNewConfig(client: Client): Promise<Config> {
  const atMs = client.runtime.now();
  const config = request<typeof endpoints.getConfig>(client, { route: 'GET /config', access: 'public' });
  cache.set(client, { config, atMs });
  // Failures are not cached.
  config.catch(() => cache.delete(client));
  return config;
}
