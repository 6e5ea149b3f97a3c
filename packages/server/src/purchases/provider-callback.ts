import { ApiError, type Environment, environments } from '@svc/protocol';
import type { Db } from '@svc/store';
import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify';
import { replyWithError } from '../http/request-hooks.ts';
import { isFresh, isSigned, readSignature, type Signature, TOLERANCE_SECONDS } from '../outbound/webhook-signature.ts';
import { acceptResult } from './fulfilment.ts';
import { type Fulfilment, type OrderResult, readOrderAnswer } from './provider.ts';

const MAX_BODY_BYTES = 64 * 1024;
const ORDER_ID = /^\w{1,64}$/;

export interface CallbackDeps {
  readonly db: Db;
  readonly fulfilment: Fulfilment;
  readonly now?: () => number;
}

interface WithOrder {
  readonly Params: { readonly orderId: string };
}

/** Outside the public interface. The body is read as bytes because the signature covers bytes. */
export async function registerProviderCallback(app: FastifyInstance, deps: CallbackDeps): Promise<void> {
  const { db, fulfilment, now = Date.now } = deps;
  app.removeAllContentTypeParsers();
  const limits = { parseAs: 'buffer', bodyLimit: MAX_BODY_BYTES } as const;
  app.addContentTypeParser('application/json', limits, (_request, body, done) => done(null, body));
  app.setErrorHandler((error: FastifyError, request, reply) => replyWithError(withOwnLimit(error), request, reply));

  app.post<WithOrder>('/provider/orders/:orderId/result', {
    // Before the body is read: a request without a fresh signature costs nothing.
    onRequest: async (request) => void requireSignature(request, now()),
    handler: async (request, reply) => {
      const { orderId } = request.params;
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const environment = signedFor(fulfilment, requireSignature(request, now()), body);
      const { result, order } = await acceptResult(db, environment, orderId, requireResult(body));
      if (result === 'known') return reply.code(204).send();
      if (result === 'unknown') throw new ApiError('purchase_not_found', 'No order has this id.');
      request.log.warn(
        { orderId, reqId: request.id, status: order?.status },
        'provider sent a second, different result',
      );
      throw new ApiError('invalid_request', `This order has ended before with another result, ${order?.status}.`);
    },
  });
}

/** The signature covers the order's id, so it cannot be used for another order. */
function requireSignature({ headers, params }: FastifyRequest, now: number): Signature {
  const signature = readSignature(headers);
  if (!signature)
    throw unauthorized('Send webhook-id, webhook-timestamp and webhook-signature as Standard Webhooks says.');
  const { orderId } = params as WithOrder['Params'];
  if (signature.id !== orderId || !ORDER_ID.test(orderId)) throw unauthorized("webhook-id must be the order's id.");
  if (isFresh(signature, now)) return signature;
  throw unauthorized(`webhook-timestamp must be within ${TOLERANCE_SECONDS} seconds of our clock.`);
}

function signedFor(fulfilment: Fulfilment, signature: Signature, body: Uint8Array): Environment {
  const signer = environments.find((environment) => {
    const access = fulfilment(environment);
    return access !== undefined && isSigned(access.secret, signature, body);
  });
  if (signer) return signer;
  throw unauthorized('The signature does not verify. Sign the exact bytes of the body with FULFILMENT_SECRET.');
}

function requireResult(body: Uint8Array): OrderResult {
  const answer = readOrderAnswer(body);
  if (answer && answer.state !== 'unknown') return answer;
  throw new ApiError(
    'invalid_request',
    'The body must be {"status":"completed","fileNumber":…}, {"status":"failed","reason":…} or {"status":"accepted"}.',
  );
}

function unauthorized(message: string): ApiError {
  return new ApiError('invalid_signature', message, { status: 401 });
}

/** The default message names the limit of the public interface. */
function withOwnLimit(error: FastifyError): Error {
  const isTooLarge = error.code === 'FST_ERR_CTP_BODY_TOO_LARGE';
  return isTooLarge ? new ApiError('invalid_request', 'The body is larger than 64 KiB.') : error;
}
