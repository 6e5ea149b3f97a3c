import type { AddressGuard } from '../../outbound/address-guard.ts';
import { OutboundError } from '../../outbound/outbound-error.ts';
import { type OutboundResponse, outboundRequest } from '../../outbound/request.ts';
import { type OrderAnswer, readOrderAnswer } from './order-answer.ts';
import type { OrderResult, Provider, ProviderOrder } from './provider.ts';
import type { FulfilmentAccess } from './settings.ts';
import { signedHeaders } from './signature.ts';
import { UnknownOutcomeError } from './unknown-outcome.ts';

/** Who needs longer says `accepted` first. Repeating is safe: the order's id makes it one order. */
export const PROVIDER_TIMEOUT_MS = 20_000;
/** An answer has a few hundred bytes. */
const MAX_ANSWER_BYTES = 64 * 1024;

/** The HTTP statuses that each word comes with; with any other it is not believed. */
const statusesOf: Readonly<Record<OrderAnswer['state'], readonly number[]>> = {
  completed: [200],
  failed: [200],
  accepted: [200, 202],
  unknown: [404],
};

export interface HttpProviderOptions {
  readonly guard: AddressGuard;
  readonly timeoutMs?: number;
  /** Unix milliseconds. */
  readonly now?: () => number;
}

/** A fulfilment service that speaks the protocol of docs/fulfilment.md. */
export function createHttpProvider({ url, secret }: FulfilmentAccess, options: HttpProviderOptions): Provider {
  const { guard, timeoutMs = PROVIDER_TIMEOUT_MS, now = Date.now } = options;
  const ask = async (target: string, orderId: string, body: string | undefined, signal: AbortSignal) => {
    const headers = {
      accept: 'application/json',
      'user-agent': 'svc',
      ...(body !== undefined && { 'content-type': 'application/json', 'idempotency-key': orderId }),
      ...signedHeaders(secret, orderId, body ?? '', now()),
    };
    const bounds = { timeoutMs, maxBodyBytes: MAX_ANSWER_BYTES, guard, signal };
    const response = await outboundRequest(target, { headers, ...(body !== undefined && { body }), ...bounds });
    return believed(response);
  };
  return {
    async order(order, signal): Promise<OrderResult> {
      const answer = await ask(url, order.orderId, bodyOf(order), signal).catch(plainly);
      if (answer.state !== 'unknown') return answer;
      throw new UnknownOutcomeError('The fulfilment service says that it does not know the order it was just given.');
    },
    lookUp: (orderId, signal) => ask(urlOfOrder(url, orderId), orderId, undefined, signal).catch(plainly),
  };
}

/** The order's place below the address, whatever slash or query that one ends with. */
export function urlOfOrder(url: string, orderId: string): string {
  const target = new URL(url);
  target.pathname = `${target.pathname.replace(/\/+$/, '')}/${encodeURIComponent(orderId)}`;
  return target.href;
}

/** Field by field: what else an order may one day have here is not for others. */
function bodyOf(order: ProviderOrder): string {
  const { orderId, environment, organizationId, catalogue, providerId, skuId, reference, amount, currency } = order;
  const bought = { catalogue, providerId, skuId, reference, amount, currency };
  return JSON.stringify({ orderId, environment, organizationId, ...bought });
}

function believed({ status, body }: OutboundResponse): OrderAnswer {
  const answer = readOrderAnswer(body);
  if (answer && statusesOf[answer.state].includes(status)) return answer;
  const what = answer ? `and the status ${answer.state}, which do not go together` : 'without a word of the protocol';
  throw new UnknownOutcomeError(`The fulfilment service answered HTTP ${status} ${what}.`);
}

/** Aborting is the caller's own doing and stays what it is. */
function plainly(error: unknown): never {
  if (!(error instanceof OutboundError)) throw error;
  if (error.kind !== 'forbidden_address') throw new UnknownOutcomeError(`${error.message}.`);
  throw new UnknownOutcomeError(
    'FULFILMENT_URL leads out of the own network without TLS. It must start with https://.',
  );
}
