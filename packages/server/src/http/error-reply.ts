import type { Socket } from 'node:net';
import { ApiError, type ErrorBody } from '@svc/protocol';
import { isDatabaseUnavailable, TenantBusyError } from '@svc/store';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { TooManyRequests } from './rate-limit.ts';

/** The embedded database is back within seconds; so is a standby that takes over. */
const UNAVAILABLE_SECONDS = 2;

export function replyWithError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const known = error instanceof ApiError ? error : (busy(error) ?? fromFramework(error as FastifyError));
  if (known.status >= 500 && known.code !== 'not_implemented') {
    request.log.error({ err: error, cause: known.cause, reqId: request.id }, known.message);
  }
  if (known.status === 429 && !reply.hasHeader('retry-after')) {
    reply.header('retry-after', known instanceof TooManyRequests ? known.retryAfterSeconds : 60);
  }
  if (known.code === 'service_unavailable') reply.header('retry-after', UNAVAILABLE_SECONDS);
  request.errorCode = known.code;
  linkReference(request, reply);
  return reply.code(known.status).type('application/json; charset=utf-8').send(errorBody(known));
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Of the reference, without a fragment. */
    referenceUrl?: string;
  }
}

/** RFC 8288: where the operation is explained. */
export function linkReference({ server, routeOptions }: FastifyRequest, reply: FastifyReply): void {
  if (server.referenceUrl === undefined) return;
  const { operationId } = routeOptions.config ?? {};
  const fragment = operationId === undefined ? '' : `#${operationId}`;
  reply.header('link', `<${server.referenceUrl}${fragment}>; rel="help"`);
}

const LOCK_NOT_AVAILABLE = '55P03';
const BUSY_SECONDS = 1;

/** The caller's own organisation keeps the database busy; nothing was stored. */
function busy(error: unknown): ApiError | undefined {
  const isLocked = error instanceof Error && 'code' in error && error.code === LOCK_NOT_AVAILABLE;
  return isLocked || error instanceof TenantBusyError ? new TooManyRequests(BUSY_SECONDS) : undefined;
}

export function errorBody(error: ApiError): ErrorBody {
  return { error: error.code, message: error.message };
}

function fromFramework(error: FastifyError): ApiError {
  const explanation = frameworkMessages[error.code];
  if (explanation) return new ApiError('invalid_request', explanation);
  if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500) {
    return new ApiError('invalid_request');
  }
  const code = isDatabaseUnavailable(error) ? 'service_unavailable' : 'internal_error';
  return new ApiError(code, undefined, { cause: error });
}

const frameworkMessages: Record<string, string> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'The body is larger than 1 MiB.',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'The body must be JSON: send content-type application/json.',
  FST_ERR_CTP_INVALID_JSON_BODY: 'The body is not valid JSON.',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'The body is not as long as its content-length says.',
  FST_ERR_BAD_URL: 'The address is not validly encoded.',
};

export function replyToBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const tooLarge = error.code === 'HPE_HEADER_OVERFLOW';
  const explanation = tooLarge ? 'The headers are too large.' : 'This is not a valid HTTP request.';
  const body = JSON.stringify(errorBody(new ApiError('invalid_request', explanation)));
  socket.end(
    `HTTP/1.1 400 Bad Request\r\ncontent-type: application/json; charset=utf-8\r\nconnection: close\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
