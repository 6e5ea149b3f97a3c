import { selector, toHex } from '@svc/starknet';
import type { Client } from '../client/client.ts';
import { SvcError } from '../client/errors.ts';
import { isObject } from '../client/is-object.ts';
import type { Ask } from '../node/ask-node.ts';
import { atNewest } from '../node/at-newest.ts';
import { withNode } from '../node/client-nodes.ts';
import type { RpcAnswer } from '../node/rpc-answer.ts';

/** One event answers the question. */
const CHUNK = 1;
/** Nodes look through a stretch of blocks at a time and may answer an empty page; the question is not worth more than this. */
const MAX_PAGES = 10;

/**
 * Whether a session key that the wallet does not know was revoked rather than never registered. The contract's storage is the same
 * for both; the difference is the event that a revocation leaves behind. A node that does not tell leaves it at "not registered".
 */
export async function wasRevoked(client: Client, walletAddress: bigint, sessionKey: bigint): Promise<boolean> {
  const filter = {
    from_block: { block_number: 0 },
    address: toHex(walletAddress),
    keys: [[toHex(selector('SessionKeyRevoked'))], [toHex(sessionKey)]],
    chunk_size: CHUNK,
  };
  try {
    const answer = await withNode(client, (ask) => atNewest((to_block) => hasEvent(ask, { ...filter, to_block })));
    return answer.ok && answer.value;
  } catch (error) {
    if (error instanceof SvcError) return false;
    throw error;
  }
}

async function hasEvent(ask: Ask, filter: object): Promise<RpcAnswer<boolean>> {
  let continuation_token: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const asked = { ...filter, ...(continuation_token !== undefined && { continuation_token }) };
    const answer = await ask('starknet_getEvents', { filter: asked }, readPage);
    if (!answer.ok) return answer;
    const { found, next } = answer.value;
    if (found || next === undefined) return { ok: true, value: found };
    continuation_token = next;
  }
  return { ok: true, value: false };
}

function readPage(result: unknown): { found: boolean; next: string | undefined } | undefined {
  if (!isObject(result) || !Array.isArray(result.events)) return undefined;
  const { events, continuation_token } = result;
  return { found: events.length > 0, next: typeof continuation_token === 'string' ? continuation_token : undefined };
}
