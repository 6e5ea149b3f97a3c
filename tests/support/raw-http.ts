import { type Agent, request } from 'node:http';
import { connect } from 'node:net';
import type { Reply } from './client.ts';

/** A server that has not answered by then will not; the slowest answer here takes milliseconds. */
const PATIENCE_MS = 10_000;

export interface RawRequest {
  readonly method: string;
  /** Sent as it is, where `fetch` would tidy it up. */
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
}

/** One request through Node's own client, which leaves paths and most headers alone. */
export function sendAsIs(origin: string, { method, path, headers, body }: RawRequest, agent: Agent): Promise<Reply> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const outgoing = request({ hostname, port, method, path, headers, agent, timeout: PATIENCE_MS }, (incoming) => {
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
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer within ${PATIENCE_MS} ms`)));
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** Bytes into a socket, and the answers that came back before it was closed. */
export async function sendBytes(origin: string, bytes: string | Buffer): Promise<Reply[]> {
  const { hostname, port } = new URL(origin);
  const text = await new Promise<string>((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) });
    let received = '';
    socket.setTimeout(PATIENCE_MS, () => socket.destroy(new Error(`the connection was open after ${PATIENCE_MS} ms`)));
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1');
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // The server may hang up while we are still talking; what it said before counts.
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
