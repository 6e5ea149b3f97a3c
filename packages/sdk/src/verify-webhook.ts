import type { EventData } from '@svc/protocol';
import { defaultRuntime, type Runtime } from './client/client.ts';
import { SvcWebhookError } from './client/errors.ts';
import { isObject, readBase64 } from './client/values.ts';

interface EventOf<Type, Data> {
  readonly id: string;
  readonly type: Type;
  /** ISO 8601. */
  readonly timestamp: string;
  readonly data: Data;
}

/**
 * What happened, by its `type`. Webhooks are delivered at least once: store `id` and ignore repetitions. Ignore unknown
 * types too: a later service may send more.
 */
export type WebhookEvent = { [Type in keyof EventData]: EventOf<Type, EventData[Type]> }[keyof EventData];

export interface VerifyWebhookOptions {
  /** Allowed difference between the sender's clock and yours. Default: 300. */
  readonly toleranceSeconds?: number | undefined;
  readonly runtime?: Runtime | undefined;
}

const TOLERANCE_SECONDS = 300;

/**
 * Verifies the signature of a webhook and returns its event. `payload` must be the raw body, not parsed and
 * serialised again. During a rotation pass the old and the new secret.
 *
 * @throws SvcWebhookError respond with 400 and ignore the request
 * @example
 * const event = await verifyWebhook(payload, headers, 'whsec_c3ZjLWV4YW1wbGUtc2VjcmV0LWZvci1kb2Nz');
 * if (event.type === 'sku-purchase.completed') console.log(event.data.skuFileNumber);
 */
export async function verifyWebhook(
  payload: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  { toleranceSeconds = TOLERANCE_SECONDS, runtime = defaultRuntime }: VerifyWebhookOptions = {},
): Promise<WebhookEvent> {
  const body = readBody(payload);
  const keys = [secret].flat().map(readSecret);
  const { id, timestamp, signatures } = readWebhookHeaders(headers);
  requireRecent(timestamp, toleranceSeconds, runtime.now());
  const message = concat(new TextEncoder().encode(`${id}.${timestamp}.`), body);
  if (await isSigned(message, signatures, keys)) return readEvent(id, body);
  throw new SvcWebhookError('no_matching_signature', 'No signature of the webhook was made with your secret.');
}

/** By its tag: bytes may come from another realm, as in some test runners. */
function readBody(payload: string | Uint8Array): Uint8Array {
  if (typeof payload === 'string') return new TextEncoder().encode(payload);
  if (Object.prototype.toString.call(payload) === '[object Uint8Array]') return payload;
  throw new SvcWebhookError('invalid_payload', 'payload must be the raw body, before anything parsed it.');
}

/** Rejects replays of old webhooks. */
function requireRecent(timestamp: string, toleranceSeconds: number, nowMs: number): void {
  const ageSeconds = Math.floor(nowMs / 1_000) - Number(timestamp);
  const within = `within ${toleranceSeconds} seconds of this clock`;
  // Negated, so that a NaN tolerance rejects everything.
  if (!(ageSeconds <= toleranceSeconds)) throw new SvcWebhookError('too_old', `The webhook was not sent ${within}.`);
  if (!(-ageSeconds <= toleranceSeconds)) throw new SvcWebhookError('too_new', `The webhook was not sent ${within}.`);
}

function concat(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}

/** The id comes from the header, which is signed with the body. */
function readEvent(id: string, body: Uint8Array): WebhookEvent {
  const event = parse(body);
  if (
    isObject(event) &&
    typeof event.type === 'string' &&
    typeof event.timestamp === 'string' &&
    isObject(event.data)
  ) {
    return { ...event, id } as unknown as WebhookEvent;
  }
  throw new SvcWebhookError('invalid_payload', 'The webhook is signed, but is no event that this library knows.');
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}

const PREFIX = 'whsec_';
/** Minimum of Standard Webhooks. It also rejects an empty setting, with which anyone could sign. */
const MIN_BYTES = 24;

function readSecret(secret: string): Uint8Array<ArrayBuffer> {
  const isText = typeof secret === 'string';
  const bytes = isText ? readBase64(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret) : undefined;
  if (bytes && bytes.length >= MIN_BYTES) return bytes;
  throw new SvcWebhookError(
    'invalid_secret',
    `A webhook secret is ${PREFIX} and base64 of ${MIN_BYTES} bytes or more.`,
  );
}

/** A `Headers` object, or a plain object as in Node, with names in any case. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** An id and a few signatures are far shorter. */
const MAX_LENGTH = 4_096;

function readWebhookHeaders(headers: WebhookHeaders): { id: string; timestamp: string; signatures: string[] } {
  const id = read(headers, 'webhook-id');
  const timestamp = read(headers, 'webhook-timestamp');
  if (!/^\d{1,12}$/.test(timestamp)) {
    throw new SvcWebhookError('invalid_timestamp', 'webhook-timestamp must be whole seconds since 1970.');
  }
  return { id, timestamp, signatures: read(headers, 'webhook-signature').split(' ') };
}

function read(headers: WebhookHeaders, name: string): string {
  const value = 'get' in headers && typeof headers.get === 'function' ? headers.get(name) : find(headers, name);
  if (typeof value === 'string' && value !== '' && value.length <= MAX_LENGTH) return value;
  throw new SvcWebhookError('missing_header', `The request has no ${name}: it is not a webhook of the service.`);
}

function find(headers: WebhookHeaders, name: string): unknown {
  const values = Object.entries(headers).flatMap(([key, value]) => (key.toLowerCase() === name ? [value].flat() : []));
  return values.length === 1 ? values[0] : undefined;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** A sender signs with two secrets during a rotation; the bound limits the work of a forged request. */
const MAX_SIGNATURES = 16;
const ALGORITHM = { name: 'HMAC', hash: 'SHA-256' };

/** WebCrypto compares in constant time. */
async function isSigned(message: Bytes, signatures: readonly string[], secrets: readonly Bytes[]): Promise<boolean> {
  const candidates = signatures.slice(0, MAX_SIGNATURES).flatMap((text) => readSignature(text) ?? []);
  let matches = false;
  for (const secret of secrets) {
    const key = await crypto.subtle.importKey('raw', secret, ALGORITHM, false, ['verify']);
    for (const candidate of candidates) {
      if (await crypto.subtle.verify(ALGORITHM, key, candidate, message)) matches = true;
    }
  }
  return matches;
}

/** `v1,` and base64. Other versions are ignored. */
function readSignature(text: string): Bytes | undefined {
  return text.startsWith('v1,') ? readBase64(text.slice('v1,'.length)) : undefined;
}
