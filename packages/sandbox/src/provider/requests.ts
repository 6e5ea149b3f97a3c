import { ApiError } from '@svc/protocol';
import { readBody, readOneOf, readOptionalText, readOptionalWhole, readWhole } from '../controls/body.ts';
import {
  answerFaultKinds,
  callbackFaultKinds,
  type NewProviderFault,
  providerRequests,
  requestFaultKinds,
} from './faults.ts';

/** Nobody means to break a provider for longer than a day. */
const MAX_FAULT_SECONDS = 86_400;
const DEFAULT_FAULT_SECONDS = 3_600;
const MAX_FAULT_COUNT = 10_000;
const MAX_REFERENCE_LENGTH = 255;
/** A day: no test and no person waits for longer. */
const MAX_SLOW_SECONDS = 86_400;
const MAX_ORDER_ID_LENGTH = 255;
const DEFAULT_LIMIT = 100;
/** The newest ones; a list is for looking. */
const MAX_LIMIT = 1_000;

/**
 * `POST /provider/faults` `{kind, reference?, count?, seconds?}`, and for requests that are not taken `request`, which is `order` unless it
 * says `look-up`. Without count and seconds it happens once, within an hour.
 */
export function readProviderFault(value: unknown): NewProviderFault {
  const body = readBody(value);
  const kind = readOneOf(body, 'kind', [...requestFaultKinds, ...answerFaultKinds, ...callbackFaultKinds]);
  const request = body.request === undefined ? 'order' : readOneOf(body, 'request', providerRequests);
  if (request === 'look-up' && !requestFaultKinds.some((one) => one === kind)) {
    throw new ApiError('invalid_request', `A look-up takes one of ${requestFaultKinds.join(', ')}.`);
  }
  const reference = readOptionalText(body, 'reference', MAX_REFERENCE_LENGTH);
  const count = readOptionalWhole(body, 'count', 1, MAX_FAULT_COUNT);
  const seconds = readOptionalWhole(body, 'seconds', 1, MAX_FAULT_SECONDS);
  const times = count ?? (seconds === undefined ? 1 : undefined);
  return {
    kind,
    request,
    ...(reference !== undefined && { reference }),
    ...(times !== undefined && { count: times }),
    seconds: seconds ?? DEFAULT_FAULT_SECONDS,
  };
}

/** `POST /provider/settings` `{slowSeconds}`. */
export function readSlowSeconds(value: unknown): number {
  return readWhole(readBody(value), 'slowSeconds', 0, MAX_SLOW_SECONDS);
}

/** `GET /provider/orders?orderId=…&limit=…`. */
export function readOrdersQuery({ orderId, limit }: Record<string, unknown>): {
  readonly orderId: string | undefined;
  readonly limit: number;
} {
  const isId = typeof orderId === 'string' && orderId.length <= MAX_ORDER_ID_LENGTH && !orderId.includes('\0');
  if (orderId !== undefined && !isId)
    throw new ApiError('invalid_request', 'query.orderId must be the id of an order.');
  if (limit === undefined) return { orderId, limit: DEFAULT_LIMIT };
  const count = typeof limit === 'string' && /^\d{1,6}$/.test(limit) ? Number(limit) : 0;
  if (count < 1) throw new ApiError('invalid_request', `query.limit must be a whole number from 1 to ${MAX_LIMIT}.`);
  return { orderId, limit: Math.min(count, MAX_LIMIT) };
}
