import type { Fetch } from '../client/client.ts';
import { SvcConnectionError } from '../client/errors.ts';
import { isRedirect } from '../client/is-redirect.ts';
import { withoutCookies } from '../client/without-cookies.ts';
import { type RpcAnswer, readRpcAnswer } from './rpc-answer.ts';

export interface NodeAccess {
  readonly fetch: Fetch;
  /** For one question to one node. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** One question to one node. `read` answers undefined for a result that cannot be right. */
export type Ask = <T>(
  method: string,
  params: object,
  read: (result: unknown) => T | undefined,
) => Promise<RpcAnswer<T>>;

/** How to ask one node. It throws a `SvcConnectionError` when the node, rather than the chain, is at fault. */
export function askNode(url: string, access: NodeAccess): Ask {
  return async (method, params, read) => {
    const { response, text } = await post(url, access, { jsonrpc: '2.0', id: 1, method, params });
    const { status } = response;
    const isAnswer = status < 500 && status !== 429 && !isRedirect(response);
    const answer = isAnswer ? readRpcAnswer(parse(text), read) : undefined;
    if (answer) return answer;
    throw new SvcConnectionError('invalid_answer', `${hostOf(url)} did not answer ${method} (HTTP ${status}).`);
  };
}

async function post(url: string, { fetch, timeoutMs, signal }: NodeAccess, body: object) {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      // Not followed: a node's address carries its owner's key. Not every runtime has 'error'.
      redirect: 'manual',
      ...withoutCookies(),
    });
    return { response, text: await response.text() };
  } catch (cause) {
    if (signal?.aborted) throw cause;
    if (!timeout.aborted)
      throw new SvcConnectionError('connection_failed', `${hostOf(url)} could not be reached.`, { cause });
    throw new SvcConnectionError('timeout', `${hostOf(url)} did not answer within ${timeoutMs} ms.`, { cause });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The path of a node's address is often a secret of its owner, so messages show the host alone. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'The node';
}
