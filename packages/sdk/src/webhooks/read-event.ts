import { SvcWebhookError } from '../client/errors.ts';
import { isObject } from '../client/is-object.ts';
import type { WebhookEvent } from './verify-webhook.ts';

/** The event in a body that is proven to be the service's. The id is the header's, which was signed with it. */
export function readEvent(id: string, body: Uint8Array): WebhookEvent {
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
