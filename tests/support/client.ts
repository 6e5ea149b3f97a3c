import { once } from 'node:events';
import { type Agent, request } from 'node:http';
import { connect } from 'node:net';
import type { ServerAddress } from './server.ts';

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
  readonly text: string;
}

export interface Send {
  readonly method?: string;
  readonly body?: unknown;
  /** Sent verbatim, in place of `body`. */
  readonly raw?: string;
  readonly headers?: Record<string, string>;
}

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

export function keyHeaders({ credentials }: ServerAddress): Record<string, string> {
  return { 'x-api-key': credentials.publicKey, authorization: `Bearer ${credentials.secretKey}` };
}

export function caller(server: ServerAddress): (path: string, options?: Send) => Promise<Reply> {
  return (path, options = {}) =>
    send(server.credentials.baseUrl + path, { ...options, headers: { ...keyHeaders(server), ...options.headers } });
}

export async function userToken(server: ServerAddress, sub: string, expiresInSeconds?: number): Promise<string> {
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

/** The slowest answer takes milliseconds. */
const WAIT_LIMIT_MS = 60_000;

export interface RawRequest {
  readonly method: string;
  /** Sent verbatim, where `fetch` would normalise it. */
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
}

/** Through Node's client, which does not change paths and most headers. */
export function sendAsIs(origin: string, { method, path, headers, body }: RawRequest, agent: Agent): Promise<Reply> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const outgoing = request({ hostname, port, method, path, headers, agent, timeout: WAIT_LIMIT_MS }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () => {
        const entries = Object.entries(incoming.headers).map(
          ([name, value]) => [name, String(value)] as [string, string],
        );
        resolve(replyOf(incoming.statusCode ?? 0, new Headers(entries), Buffer.concat(chunks).toString()));
      });
    });
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer within ${WAIT_LIMIT_MS} ms`)));
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

export async function sendBytes(origin: string, bytes: string | Buffer): Promise<Reply[]> {
  const { hostname, port } = new URL(origin);
  const text = await new Promise<string>((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) });
    let received = '';
    socket.setTimeout(WAIT_LIMIT_MS, () =>
      socket.destroy(new Error(`the connection was open after ${WAIT_LIMIT_MS} ms`)),
    );
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1');
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // The server may close first; what it sent before counts.
      if (error.code === 'ECONNRESET' || error.code === 'EPIPE') resolve(received);
      else reject(error);
    });
    socket.on('close', () => resolve(received));
    socket.end(bytes);
  });
  return readReplies(text);
}

function readReplies(text: string): Reply[] {
  const replies: Reply[] = [];
  let rest = text;
  while (rest.length > 0) {
    const headEnd = rest.indexOf('\r\n\r\n');
    const [statusLine = '', ...lines] = rest.slice(0, headEnd).split('\r\n');
    const status = /^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1];
    if (headEnd < 0 || status === undefined) throw new Error(`This is not an answer: ${rest.slice(0, 200)}`);
    const headers = new Headers(lines.map((line) => line.split(/:\s*/, 2) as [string, string]));
    const bodyEnd = headers.has('transfer-encoding') ? endOfChunks(rest) : headEnd + 4 + lengthOf(headers);
    replies.push(replyOf(Number(status), headers, rest.slice(headEnd + 4, bodyEnd)));
    rest = rest.slice(bodyEnd);
  }
  return replies;
}

const LAST_CHUNK = '0\r\n\r\n';
const endOfChunks = (text: string) => text.indexOf(LAST_CHUNK) + LAST_CHUNK.length;
const lengthOf = (headers: Headers) => Number(headers.get('content-length') ?? 0);

function replyOf(status: number, headers: Headers, text: string): Reply {
  try {
    return { status, headers, text, body: JSON.parse(text) };
  } catch {
    return { status, headers, text, body: undefined };
  }
}

export async function abortRequest(url: string): Promise<void> {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const head = `POST ${pathname} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-length: 100\r\nexpect: 100-continue\r\n\r\n`;
  socket.write(head);
  // 100 Continue: the server reads the body.
  await once(socket, 'data');
  socket.write('{');
  socket.resetAndDestroy();
  await once(socket, 'close');
}

/** How many bytes of a body are sent until the server stops reading. */
export async function floodRequest(url: string, chunkBytes: number, maxChunks: number): Promise<number> {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect(Number(port), hostname);
  const ended = once(socket, 'close').catch(() => undefined);
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  socket.on('error', over).on('close', over).on('data', over);
  socket.write(`POST ${pathname} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-length: ${chunkBytes * maxChunks}\r\n\r\n`);
  let sent = 0;
  const chunk = Buffer.alloc(chunkBytes, 'x');
  for (; sent < maxChunks && !isOver; sent++) {
    await new Promise<void>((resolve) => socket.write(chunk, () => resolve()));
  }
  socket.destroy();
  await ended;
  return sent * chunkBytes;
}

export async function isAdmitted(baseUrl: string, headers: Record<string, string>): Promise<boolean> {
  return (await send(`${baseUrl}/skus?limit=1`, { headers })).status === 200;
}
