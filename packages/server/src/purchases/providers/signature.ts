import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** What Standard Webhooks signs beside the body. */
export interface Signature {
  readonly id: string;
  /** Seconds since 1970, as they were sent. */
  readonly timestamp: string;
  /** As it was sent: `v1,` and base64, several with spaces between. */
  readonly signatures: string;
}

/** How far the clocks of both sides may be apart; a recorded request is worth nothing after it. */
export const TOLERANCE_SECONDS = 300;
/** An identifier and a few signatures are far shorter. */
const MAX_HEADER_LENGTH = 4_096;

/** The headers that prove a request to be ours, whose body is exactly this. */
export function signedHeaders(secret: Uint8Array, id: string, body: string, now: number): Record<string, string> {
  const timestamp = String(Math.floor(now / 1_000));
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${digest(secret, { id, timestamp }, Buffer.from(body)).toString('base64')}`,
  };
}

/** undefined where a header is missing or is none of Standard Webhooks'. */
export function readSignature(headers: IncomingHttpHeaders): Signature | undefined {
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => {
    const value = headers[name];
    return typeof value === 'string' && value.length <= MAX_HEADER_LENGTH ? value : '';
  });
  if (!id || !timestamp || !signatures || !/^\d{1,12}$/.test(timestamp)) return undefined;
  return { id, timestamp, signatures };
}

/** Whether it was made in these minutes, either side of now. */
export function isFresh({ timestamp }: Signature, now: number): boolean {
  return Math.abs(Math.floor(now / 1_000) - Number(timestamp)) <= TOLERANCE_SECONDS;
}

/** Whether one of the signatures was made with the secret. They are compared in constant time. */
export function isSigned(secret: Uint8Array, signature: Signature, body: Uint8Array): boolean {
  const wanted = digest(secret, signature, body);
  return signature.signatures.split(' ').some((text) => {
    const given = text.startsWith('v1,') ? Buffer.from(text.slice('v1,'.length), 'base64') : Buffer.alloc(0);
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  });
}

function digest(secret: Uint8Array, { id, timestamp }: Pick<Signature, 'id' | 'timestamp'>, body: Uint8Array): Buffer {
  return createHmac('sha256', secret).update(`${id}.${timestamp}.`).update(body).digest();
}
