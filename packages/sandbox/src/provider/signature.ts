import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** How far the clocks of both sides may be apart, as Standard Webhooks has it. */
const TOLERANCE_SECONDS = 300;

/** The headers of Standard Webhooks for this id and exactly this body. */
export function sign(secret: Uint8Array, id: string, body: string, nowSeconds: number): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(nowSeconds),
    'webhook-signature': `v1,${digest(secret, `${id}.${nowSeconds}.`, Buffer.from(body)).toString('base64')}`,
  };
}

/** Whether the request was signed for this id, in these minutes, with the secret. */
export function isSigned(
  secret: Uint8Array,
  headers: IncomingHttpHeaders,
  id: string,
  body: Uint8Array,
  nowSeconds: number,
): boolean {
  const { 'webhook-id': signedId, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers;
  if (signedId !== id || typeof timestamp !== 'string' || typeof signature !== 'string') return false;
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(nowSeconds - Number(timestamp)) > TOLERANCE_SECONDS) return false;
  const wanted = digest(secret, `${id}.${timestamp}.`, body);
  const given = signature.startsWith('v1,') ? Buffer.from(signature.slice('v1,'.length), 'base64') : Buffer.alloc(0);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

function digest(secret: Uint8Array, start: string, body: Uint8Array): Buffer {
  return createHmac('sha256', secret).update(start).update(body).digest();
}
