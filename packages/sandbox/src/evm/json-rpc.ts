import { type Answer, failure, INVALID_PARAMS, INVALID_REQUEST, LIMIT_EXCEEDED } from './rpc-error.ts';

/** A page of balances fits; more in one request would keep the others waiting. */
export const MAX_BATCH = 100;
/** The answers of a batch together: what the thread writes as JSON in some 20 ms. */
export const MAX_BATCH_CHARS = 2 * 1024 * 1024;

export type Execute = (method: string, params: readonly unknown[]) => Promise<Answer>;
type Response = Answer & { readonly jsonrpc: '2.0'; readonly id: string | number | null };

/** Answers a JSON-RPC 2.0 request or a batch of them; undefined where the caller asked for no answer (no `id`). */
export async function serve(body: unknown, execute: Execute): Promise<unknown> {
  return Array.isArray(body) ? serveBatch(body, execute) : serveOne(body, execute);
}

async function serveBatch(body: readonly unknown[], execute: Execute): Promise<unknown> {
  if (body.length === 0) return respond(null, failure(INVALID_REQUEST, 'The batch is empty.'));
  if (body.length > MAX_BATCH) {
    return respond(null, failure(LIMIT_EXCEEDED, `A batch has at most ${MAX_BATCH} requests.`));
  }
  const responses: Response[] = [];
  let room = MAX_BATCH_CHARS;
  for (const item of body) {
    const response = await serveOne(item, room > 0 ? execute : refuseMore);
    if (response === undefined) continue;
    responses.push(response);
    room -= JSON.stringify(response).length;
  }
  return responses.length > 0 ? responses : undefined;
}

async function refuseMore(): Promise<Answer> {
  return failure(LIMIT_EXCEEDED, 'The answers to this batch are too large. Ask for less at once.');
}

async function serveOne(body: unknown, execute: Execute): Promise<Response | undefined> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return respond(null, failure(INVALID_REQUEST, 'A request is a JSON object.'));
  }
  const { jsonrpc, id, method, params = [] } = body as Record<string, unknown>;
  if (id !== undefined && id !== null && typeof id !== 'string' && typeof id !== 'number') {
    return respond(null, failure(INVALID_REQUEST, 'id must be a string or a number.'));
  }
  if (jsonrpc !== '2.0' || typeof method !== 'string') {
    return respond(id ?? null, failure(INVALID_REQUEST, 'A request has jsonrpc "2.0" and the name of a method.'));
  }
  if (!Array.isArray(params)) return respond(id ?? null, failure(INVALID_PARAMS, 'params must be an array.'));
  const answer = await execute(method, params);
  return id === undefined ? undefined : respond(id, answer);
}

export function respond(id: string | number | null, answer: Answer): Response {
  return { jsonrpc: '2.0', id, ...answer };
}
