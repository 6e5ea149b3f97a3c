import type { Runtime } from '@svc/sdk';

/** An idempotency key: no two are alike. Not `crypto.randomUUID`, which pages without TLS do not have. */
export function newKey(runtime: Pick<Runtime, 'randomBytes'>): string {
  return Array.from(runtime.randomBytes(16), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
