import { SvcWebhookError } from '../client/errors.ts';

/** The request's headers: a `Headers` object, or a plain one as Node has it, with names in any case. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** Whose request is this long is not ours: an identifier and a few signatures are far shorter. */
const MAX_LENGTH = 4_096;

export function readWebhookHeaders(headers: WebhookHeaders): { id: string; timestamp: string; signatures: string[] } {
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
