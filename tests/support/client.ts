import type { RunningServer } from './server.ts';

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
  readonly text: string;
}

export interface Send {
  readonly method?: string;
  readonly body?: unknown;
  /** Sent as it is, in place of `body`. */
  readonly raw?: string;
  readonly headers?: Record<string, string>;
}

/** One request, with the given headers and nothing else. */
export async function send(url: string, options: Send = {}): Promise<Reply> {
  const payload = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
  const response = await fetch(url, {
    method: options.method ?? 'GET',
    headers: { ...(payload !== undefined && { 'content-type': 'application/json' }), ...options.headers },
    ...(payload !== undefined && { body: payload }),
    redirect: 'manual',
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: parse(text), text };
}

/** Both headers with the server's own development keys. */
export function keyHeaders({ credentials }: RunningServer): Record<string, string> {
  return { 'x-api-key': credentials.publicKey, authorization: `Bearer ${credentials.secretKey}` };
}

/** A caller with the development keys: `call('/skus')`. */
export function caller(server: RunningServer): (path: string, options?: Send) => Promise<Reply> {
  return (path, options = {}) =>
    send(server.credentials.baseUrl + path, { ...options, headers: { ...keyHeaders(server), ...options.headers } });
}

/** A token of the development identity provider. */
export async function userToken(server: RunningServer, sub: string, expiresInSeconds?: number): Promise<string> {
  const reply = await send(`${server.origin}/sandbox/identity/token`, {
    method: 'POST',
    body: { sub, ...(expiresInSeconds !== undefined && { expiresInSeconds }) },
  });
  if (reply.status !== 200) throw new Error(reply.text);
  return (reply.body as { token: string }).token;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
