import type { AnswerOf, endpoints } from '@svc/protocol';
import type { Client } from './client.ts';
import { request } from './request.ts';

/** The network, its tokens and wallet classes, as the service states them. */
export type Config = AnswerOf<typeof endpoints.getConfig>;

interface RequestSpec {
  readonly config: Promise<Config>;
  readonly atMs: number;
}

/** A server runs for months; what an operator changes (the payment address, a class) reaches it within this time. */
const REMEMBERED_MS = 300_000;

const asked = new WeakMap<Client, RequestSpec>();

/**
 * Reads the network, token addresses and wallet classes. A client asks once and remembers for five minutes.
 *
 * @example
 * const { network, tokens } = await svc.getConfig();
 */
export function getConfig(client: Client): Promise<Config> {
  const known = asked.get(client);
  const atMs = client.runtime.now();
  if (known && atMs - known.atMs < REMEMBERED_MS) return known.config;
  const config = request<typeof endpoints.getConfig>(client, { route: 'GET /config', access: 'public' });
  asked.set(client, { config, atMs });
  // A failure is not remembered.
  config.catch(() => asked.delete(client));
  return config;
}
