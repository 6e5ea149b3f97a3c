import { once } from 'node:events';
import {
  type ClientRequest,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  validateHeaderName,
  validateHeaderValue,
} from 'node:http';
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type AddressGuard, hostOf, OutboundError, parseTarget, portOf, toOutboundError } from './address-guard.ts';

export interface OutboundRequestOptions {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
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

const MAX_TIMEOUT_MS = 2 ** 31 - 1; // beyond it, Node's timers fire at once

/** One request on its own connection; redirects are not followed. Throws an `OutboundError` or the signal's reason. */
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
    // createConnection without an agent: no pool, no proxy from the environment.
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

function responseTo(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.on('response', resolve);
    request.on('error', reject);
    request.on('close', () => reject(new Error('closed without an answer')));
  });
}

async function readBody(response: IncomingMessage, maxBytes: number, target: URL): Promise<Buffer> {
  const tooLarge = () => new OutboundError('too_large', `${target.host} answered with more than ${maxBytes} bytes`);
  if (Number(response.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  // A list of one-byte chunks would take a hundred times the bound.
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

const MAX_ADDRESSES_TRIED = 8;

/** Resolves the name once and connects to the checked addresses only, so that a second DNS answer has no effect. */
export async function openConnection(target: URL, guard: AddressGuard, signal: AbortSignal): Promise<Socket> {
  try {
    const addresses = await checkedAddresses(target, guard);
    signal.throwIfAborted();
    const socket = await connectToAny(addresses, target, signal);
    // Before the first byte: the socket's address is the true one.
    if (!guard.allows(socket.remoteAddress ?? '', target)) throw forbidden(target);
    return target.protocol === 'https:' ? await secure(socket, target) : socket;
  } catch (error) {
    throw toOutboundError('connect', `No connection to ${target.host}`, error);
  }
}

async function checkedAddresses(target: URL, guard: AddressGuard): Promise<readonly string[]> {
  const host = hostOf(target);
  const addresses = isIP(host) === 0 ? await guard.lookup(host) : [host];
  if (addresses.length === 0) throw new OutboundError('connect', `${target.host} has no address`);
  // One forbidden address refuses the name: DNS rebinding mixes them.
  if (!addresses.every((address) => guard.allows(address, target))) throw forbidden(target);
  return addresses.slice(0, MAX_ADDRESSES_TRIED);
}

async function connectToAny(addresses: readonly string[], target: URL, signal: AbortSignal): Promise<Socket> {
  const answers = addresses.map((address) => ({ address, family: isIP(address) }));
  const lookup: LookupFunction = (_host, _options, answer) => process.nextTick(answer, null, answers);
  const socket = connectTcp({ host: hostOf(target), port: portOf(target), lookup, autoSelectFamily: true, signal });
  socket.on('error', ignore);
  await once(socket, 'connect');
  return socket;
}

async function secure(socket: Socket, target: URL): Promise<Socket> {
  const host = hostOf(target).replace(/\.$/, '');
  const secured = connectTls({
    socket,
    host,
    servername: isIP(host) === 0 ? host : '',
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true,
  });
  secured.on('error', ignore);
  await once(secured, 'secureConnect');
  return secured;
}

function forbidden(target: URL): OutboundError {
  return new OutboundError('forbidden_address', `${target.host} does not lead to a public address`);
}

// An unhandled late error would end the process.
function ignore(): void {}

// Callers must not set framing and routing.
const OWN_HEADERS = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

export function requestHeaders(
  target: URL,
  given: Readonly<Record<string, string>>,
  bodyBytes: number | undefined,
): Record<string, string> {
  for (const [name, value] of Object.entries(given)) checkHeader(name, value);
  const framing = bodyBytes === undefined ? {} : { 'content-length': String(bodyBytes) };
  return { ...given, ...framing, host: target.host, connection: 'close' };
}

export function responseHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );
}

function checkHeader(name: string, value: string): void {
  if (OWN_HEADERS.has(name.toLowerCase())) throw new OutboundError('protocol', `The header ${name} cannot be set`);
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  } catch (error) {
    throw toOutboundError('protocol', 'A header of the request is not valid', error);
  }
}

/** Throws `onTimeout()` or the caller's reason. The signal of `work` is always aborted in the end. */
export async function withDeadline<T>(
  timeoutMs: number,
  onTimeout: () => Error,
  caller: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  caller?.throwIfAborted();
  const end = new AbortController();
  const ended = new Promise<never>((_, reject) => {
    end.signal.addEventListener('abort', () => reject(end.signal.reason), { once: true });
  });
  const timer = setTimeout(() => end.abort(onTimeout()), timeoutMs);
  const onCallerAbort = () => end.abort(caller?.reason);
  caller?.addEventListener('abort', onCallerAbort, { once: true });
  try {
    return await Promise.race([ended, work(end.signal)]);
  } finally {
    clearTimeout(timer);
    caller?.removeEventListener('abort', onCallerAbort);
    end.abort();
  }
}
