import { isIP } from 'node:net';
import { type Currency, type Environment, type Parsed, parsed, unparsed } from '@svc/protocol';
import { type AddressGuard, hostOf, isForbiddenAddress, OutboundError, trusted } from '../outbound/address-guard.ts';
import { type OutboundResponse, outboundRequest } from '../outbound/request.ts';
import { signedHeaders } from '../outbound/webhook-signature.ts';
import { oneLine } from '../util/text.ts';

export type SkuCatalogue = 'deployment' | 'organization';

/** The id makes repeating it safe: it is one order however often it is sent. */
export interface ProviderOrder {
  readonly orderId: string;
  readonly organizationId: string;
  readonly environment: Environment;
  /** `organization`: its own service, at a price that it sets itself. */
  readonly catalogue: SkuCatalogue;
  readonly providerId: string;
  readonly skuId: string;
  readonly reference: string;
  readonly amount: string;
  readonly currency: Currency;
}

/** `accepted`: the result comes later, by callback or lookup. */
export type OrderResult =
  | { readonly state: 'completed'; readonly fileNumber: string }
  | { readonly state: 'failed'; readonly reason: string }
  | { readonly state: 'accepted' };

/** An error leaves the outcome unknown: the order may have arrived. */
export interface Provider {
  order(order: ProviderOrder, signal: AbortSignal): Promise<OrderResult>;
  lookUp(orderId: string, signal: AbortSignal): Promise<OrderResult | { readonly state: 'unknown' }>;
}

export type Providers = (environment: Environment) => Provider | undefined;

/** The order may have been delivered. The message is safe to log: it names only the host and the answer. */
export class UnknownOutcomeError extends Error {
  override readonly name = 'UnknownOutcomeError';
}

/** Providers that need longer answer `accepted` first. Repeating is safe, because the order's id makes it one order. */
export const PROVIDER_TIMEOUT_MS = 20_000;
const MAX_ANSWER_BYTES = 64 * 1024;

/** An answer with another HTTP status is not trusted. */
const statusesOf: Readonly<Record<OrderAnswer['state'], readonly number[]>> = {
  completed: [200],
  failed: [200],
  accepted: [200, 202],
  unknown: [404],
};

export interface HttpProviderOptions {
  readonly guard: AddressGuard;
  readonly timeoutMs?: number;
  readonly now?: () => number;
}

export function createHttpProvider({ url, secret }: FulfilmentAccess, options: HttpProviderOptions): Provider {
  const { guard, timeoutMs = PROVIDER_TIMEOUT_MS, now = Date.now } = options;
  const ask = async (target: string, orderId: string, body: string | undefined, signal: AbortSignal) => {
    const headers = {
      accept: 'application/json',
      'user-agent': 'svc',
      ...(body !== undefined && { 'content-type': 'application/json', 'idempotency-key': orderId }),
      ...signedHeaders({ id: orderId, timestamp: Math.floor(now() / 1_000), body: body ?? '' }, [secret]),
    };
    const bounds = { timeoutMs, maxBodyBytes: MAX_ANSWER_BYTES, guard, signal };
    const response = await outboundRequest(target, { headers, ...(body !== undefined && { body }), ...bounds });
    return requireAnswer(response);
  };
  return {
    async order(order, signal): Promise<OrderResult> {
      const answer = await ask(url, order.orderId, bodyOf(order), signal).catch(asUnknownOutcome);
      if (answer.state !== 'unknown') return answer;
      throw new UnknownOutcomeError('The fulfilment service says that it does not know the order it was just given.');
    },
    lookUp: (orderId, signal) => ask(urlOfOrder(url, orderId), orderId, undefined, signal).catch(asUnknownOutcome),
  };
}

export function urlOfOrder(url: string, orderId: string): string {
  const target = new URL(url);
  target.pathname = `${target.pathname.replace(/\/+$/, '')}/${encodeURIComponent(orderId)}`;
  return target.href;
}

/** Field by field, so that new fields of an order are not sent by accident. */
function bodyOf(order: ProviderOrder): string {
  const { orderId, environment, organizationId, catalogue, providerId, skuId, reference, amount, currency } = order;
  const item = { catalogue, providerId, skuId, reference, amount, currency };
  return JSON.stringify({ orderId, environment, organizationId, ...item });
}

function requireAnswer({ status, body }: OutboundResponse): OrderAnswer {
  const answer = readOrderAnswer(body);
  if (answer && statusesOf[answer.state].includes(status)) return answer;
  const found = answer ? `and the status ${answer.state}, which do not go together` : 'without a word of the protocol';
  throw new UnknownOutcomeError(`The fulfilment service answered HTTP ${status} ${found}.`);
}

function asUnknownOutcome(error: unknown): never {
  if (!(error instanceof OutboundError)) throw error;
  if (error.kind !== 'forbidden_address') throw new UnknownOutcomeError(`${error.message}.`);
  throw new UnknownOutcomeError(
    'FULFILMENT_URL leads out of the own network without TLS. It must start with https://.',
  );
}

export type OrderAnswer = OrderResult | { readonly state: 'unknown' };

/** Never cut: a part of a file number is useless. */
export const MAX_FILE_NUMBER_LENGTH = 255;
const MAX_REASON_LENGTH = 500;

export function readOrderAnswer(body: Uint8Array): OrderAnswer | undefined {
  const { status, fileNumber, reason } = parse(body);
  switch (status) {
    case 'completed':
      return isFileNumber(fileNumber) ? { state: 'completed', fileNumber } : undefined;
    case 'failed':
      return readReason(reason);
    case 'accepted':
      return { state: 'accepted' };
    case 'unknown':
      return { state: 'unknown' };
    default:
      return undefined;
  }
}

function parse(body: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

export function isFileNumber(value: unknown): value is string {
  if (typeof value !== 'string' || value.trim() === '' || value.length > MAX_FILE_NUMBER_LENGTH) return false;
  return !/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(value);
}

function readReason(value: unknown): OrderResult | undefined {
  const reason = typeof value === 'string' ? oneLine(value, MAX_REASON_LENGTH) : '';
  return reason === '' ? undefined : { state: 'failed', reason };
}

export interface FulfilmentAccess {
  readonly url: string;
  readonly secret: Uint8Array;
}

/** Many servers refuse longer URLs; an order's id is added. */
const MAX_URL_LENGTH = 1_900;
const SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;
const MIN_SECRET_BYTES = 24;
const MAX_SECRET_BYTES = 64;

/** Orders contain personal data, so they leave the operator's network encrypted or not at all. */
export function parseFulfilmentUrl(text: string): Parsed<string> {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || text.length > MAX_URL_LENGTH) {
    return unparsed('must be an address that starts with https://, or with http:// inside your own network');
  }
  if (url.username !== '' || url.password !== '') return unparsed('must not contain a user or password');
  if (url.hash !== '') return unparsed('must not contain a #');
  const host = hostOf(url);
  if (url.protocol === 'http:' && isIP(host) !== 0 && !isForbiddenAddress(host)) {
    return unparsed('must start with https:// towards a public address');
  }
  return parsed(url.href);
}

export function parseFulfilmentSecret(text: string): Parsed<Uint8Array> {
  const [, base64 = ''] = SECRET.exec(text) ?? [];
  const bytes = Buffer.from(base64, 'base64');
  // Decoding is lenient: a difference means a truncated or mistyped secret.
  const isWhole = bytes.toString('base64') === base64;
  if (isWhole && bytes.length >= MIN_SECRET_BYTES && bytes.length <= MAX_SECRET_BYTES) return parsed(bytes);
  return unparsed(`must be whsec_ and the base64 of ${MIN_SECRET_BYTES} to ${MAX_SECRET_BYTES} random bytes`);
}

export type Fulfilment = (environment: Environment) => FulfilmentAccess | undefined;

export function createProviders(fulfilment: Fulfilment): Providers {
  return (environment) => {
    const access = fulfilment(environment);
    const guard = environment === 'production' ? encryptedOutside() : trusted();
    return access && createHttpProvider(access, { guard });
  };
}

/** The operator's own network may use plain HTTP; public addresses need TLS. */
export function encryptedOutside(): AddressGuard {
  const { lookup } = trusted();
  return { lookup, allows: (address, { protocol }) => protocol === 'https:' || isForbiddenAddress(address) };
}
