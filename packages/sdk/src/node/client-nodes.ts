import type { Client } from '../client/client.ts';
import { getConfig } from '../client/get-config.ts';
import type { Ask } from './ask-node.ts';
import { firstNode } from './first-node.ts';

/** A node answers in well under a second; beyond this the next one is the better bet. */
export const NODE_TIMEOUT_MS = 15_000;

/** The nodes of the client's options, then the one that the service names, which is asked for only when it is needed. */
export async function* clientNodes(client: Client, preferred: readonly string[] = []): AsyncGenerator<string> {
  const own = new Set([...preferred, ...client.nodeUrls]);
  yield* own;
  const { rpcUrl } = await getConfig(client);
  if (!own.has(rpcUrl)) yield rpcUrl;
}

export function withNode<T>(client: Client, work: (ask: Ask) => Promise<T>): Promise<T> {
  const timeoutMs = Math.min(NODE_TIMEOUT_MS, client.timeoutMs);
  return firstNode(clientNodes(client), { fetch: client.fetch, timeoutMs }, work);
}
