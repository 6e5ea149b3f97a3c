import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { AddressGuard } from './address-guard.ts';
import { openConnection } from './connect.ts';
import { withDeadline } from './deadline.ts';
import { requestHeaders, responseHeaders } from './headers.ts';
import { OutboundError, toOutboundError } from './outbound-error.ts';
import { parseTarget } from './target.ts';

export interface OutboundRequestOptions {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** From the first look at the name to the last byte of the answer. */
  readonly timeoutMs: number;
  readonly maxBodyBytes: number;
  readonly guard: AddressGuard;
  readonly signal?: AbortSignal;
}

export interface OutboundResponse {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

interface Message {
  readonly target: URL;
  readonly method: 'GET' | 'POST';
  readonly headers: Record<string, string>;
  readonly body: Buffer | undefined;
}

// The largest delay that a timer of Node can hold; beyond it the timer fires at once.
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * One request on a connection of its own. Redirects are answers like any other and never followed. Throws an `OutboundError`,
 * or the reason of the caller's signal.
 */
export async function outboundRequest(url: string | URL, options: OutboundRequestOptions): Promise<OutboundResponse> {
  const { timeoutMs, maxBodyBytes, guard } = options;
  requireWithin('timeoutMs', timeoutMs, 1, MAX_TIMEOUT_MS);
  requireWithin('maxBodyBytes', maxBodyBytes, 0, Number.MAX_SAFE_INTEGER);
  const message = compose(parseTarget(url), options);
  const tooLate = () => new OutboundError('timeout', `${message.target.host} did not answer within ${timeoutMs} ms`);
  return withDeadline(timeoutMs, tooLate, options.signal, async (signal) => {
    const socket = await openConnection(message.target, guard, signal);
    return exchange(socket, message, maxBodyBytes);
  });
}

function compose(target: URL, options: OutboundRequestOptions): Message {
  const method = options.method ?? (options.body === undefined ? 'GET' : 'POST');
  const body = options.body === undefined ? undefined : Buffer.from(options.body);
  const bodyBytes = body?.length ?? (method === 'POST' ? 0 : undefined);
  return { target, method, headers: requestHeaders(target, options.headers ?? {}, bodyBytes), body };
}

async function exchange(socket: Socket, message: Message, maxBodyBytes: number): Promise<OutboundResponse> {
  const { target, method, headers, body } = message;
  try {
    // With createConnection and no agent there is no pool, no proxy from the environment and no second connection.
    const path = target.pathname + target.search;
    const request = httpRequest({ createConnection: () => socket, method, path, headers });
    request.end(body);
    const response = await responseTo(request);
    const answer = await readBody(response, maxBodyBytes, target);
    return { status: response.statusCode ?? 0, headers: responseHeaders(response.headers), body: answer };
  } catch (error) {
    throw toOutboundError('protocol', `${target.host} did not give a whole HTTP answer`, error);
  }
}

// The listeners stay, so an error that comes after the answer harms nobody.
function responseTo(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.on('response', resolve);
    request.on('error', reject);
    // All that is heard of an answer that switches to another protocol.
    request.on('close', () => reject(new Error('closed without an answer')));
  });
}

async function readBody(response: IncomingMessage, maxBytes: number, target: URL): Promise<Buffer> {
  const tooLarge = () => new OutboundError('too_large', `${target.host} answered with more than ${maxBytes} bytes`);
  if (Number(response.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  // One buffer that grows, not a list: a list of one-byte chunks would take a hundred times the bound.
  let buffer: Buffer = Buffer.alloc(0);
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    if (size + chunk.length > maxBytes) throw tooLarge();
    if (size + chunk.length > buffer.length) buffer = grown(buffer, size + chunk.length);
    chunk.copy(buffer, size);
    size += chunk.length;
  }
  return buffer.subarray(0, size);
}

function grown(buffer: Buffer, needed: number): Buffer {
  const larger = Buffer.alloc(Math.max(needed, 2 * buffer.length));
  buffer.copy(larger);
  return larger;
}

function requireWithin(name: string, value: number, least: number, most: number): void {
  const fits = Number.isSafeInteger(value) && value >= least && value <= most;
  if (!fits) throw new RangeError(`${name} must be a whole number from ${least} to ${most}`);
}
