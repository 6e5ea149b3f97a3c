import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Standard Webhooks: on events and orders that are sent, and on providers' results. */
export interface Signature {
  readonly id: string;
  readonly timestamp: string; // Unix seconds
  readonly signatures: string; // `v1,` and base64, several separated by spaces
}

export interface SignedMessage {
  readonly id: string;
  readonly timestamp: number; // Unix seconds
  readonly body: string;
}

export const SECRET_PREFIX = 'whsec_';

export const secretKey = (secret: string): Uint8Array => Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');

export function signedHeaders(message: SignedMessage, keys: readonly Uint8Array[]): Record<string, string> {
  const { id, body } = message;
  const timestamp = String(message.timestamp);
  const signatures = keys.map((key) => `v1,${digest(key, { id, timestamp }, body).toString('base64')}`);
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}

/** Clock difference, and the window for replays. */
export const TOLERANCE_SECONDS = 300;
const MAX_HEADER_LENGTH = 4_096;

export function readSignature(headers: IncomingHttpHeaders): Signature | undefined {
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => {
    const value = headers[name];
    return typeof value === 'string' && value.length <= MAX_HEADER_LENGTH ? value : '';
  });
  if (!id || !timestamp || !signatures || !/^\d{1,12}$/.test(timestamp)) return undefined;
  return { id, timestamp, signatures };
}

export function isFresh({ timestamp }: Signature, now: number): boolean {
  return Math.abs(Math.floor(now / 1_000) - Number(timestamp)) <= TOLERANCE_SECONDS;
}

export function isSigned(key: Uint8Array, signature: Signature, body: Uint8Array): boolean {
  const expected = digest(key, signature, body);
  return signature.signatures.split(' ').some((text) => {
    const given = text.startsWith('v1,') ? Buffer.from(text.slice('v1,'.length), 'base64') : Buffer.alloc(0);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

function digest(key: Uint8Array, { id, timestamp }: Pick<Signature, 'id' | 'timestamp'>, body: Uint8Array | string) {
  return createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
}
