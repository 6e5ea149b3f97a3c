import type { EventType, Transaction } from '@svc/protocol';
import { SvcWebhookError } from '../client/errors.ts';
import { defaultRuntime, type Runtime } from '../client/runtime.ts';
import { readEvent } from './read-event.ts';
import { readSecret } from './read-secret.ts';
import { readWebhookHeaders, type WebhookHeaders } from './read-webhook-headers.ts';
import { isSigned } from './signature.ts';

interface EventOf<Type, Data> {
  readonly id: string;
  readonly type: Type;
  /** When it happened, ISO 8601. */
  readonly timestamp: string;
  readonly data: Data;
}

/**
 * What happened: with a purchase, or nothing but that you asked for a test. Webhooks come at least once: remember `id`, and let a
 * second one with the same go. A later service may know more types: let those go, too.
 */
export type WebhookEvent =
  | EventOf<Exclude<EventType, 'webhook.test'>, Transaction>
  | EventOf<'webhook.test', { readonly webhookId: string; readonly message: string }>;

export interface VerifyWebhookOptions {
  /** How far the sender's clock and yours may be apart. Default: 300. */
  readonly toleranceSeconds?: number | undefined;
  readonly runtime?: Runtime | undefined;
}

const TOLERANCE_SECONDS = 300;

/**
 * Proves that a webhook comes from the service, and answers its event. `payload` must be the body as it arrived, not parsed and written
 * again. While a secret is being replaced, pass the old and the new one.
 *
 * @throws SvcWebhookError answer such a request with 400 and do nothing
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

/** By its name, since bytes may come from another realm, as in some test runners. */
function readBody(payload: string | Uint8Array): Uint8Array {
  if (typeof payload === 'string') return new TextEncoder().encode(payload);
  if (Object.prototype.toString.call(payload) === '[object Uint8Array]') return payload;
  throw new SvcWebhookError('invalid_payload', 'payload must be the raw body, before anything parsed it.');
}

/** An old webhook may be one that somebody has kept to send it again. */
function requireRecent(timestamp: string, toleranceSeconds: number, nowMs: number): void {
  const ageSeconds = Math.floor(nowMs / 1_000) - Number(timestamp);
  const within = `within ${toleranceSeconds} seconds of this clock`;
  // Written so that a tolerance that is not a number lets nothing pass.
  if (!(ageSeconds <= toleranceSeconds)) throw new SvcWebhookError('too_old', `The webhook was not sent ${within}.`);
  if (!(-ageSeconds <= toleranceSeconds)) throw new SvcWebhookError('too_new', `The webhook was not sent ${within}.`);
}

function concat(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}
