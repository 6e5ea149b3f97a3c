import { SvcWebhookError } from '../client/errors.ts';
import { readBase64 } from '../client/read-base64.ts';

const PREFIX = 'whsec_';
/** The least that Standard Webhooks allows. It also refuses a setting that was left empty, with which anybody could sign. */
const MIN_BYTES = 24;

export function readSecret(secret: string): Uint8Array<ArrayBuffer> {
  const isText = typeof secret === 'string';
  const bytes = isText ? readBase64(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret) : undefined;
  if (bytes && bytes.length >= MIN_BYTES) return bytes;
  throw new SvcWebhookError(
    'invalid_secret',
    `A webhook secret is ${PREFIX} and base64 of ${MIN_BYTES} bytes or more.`,
  );
}
