import { Readable } from 'node:stream';
import {
  ApiError,
  allEndpoints,
  type Endpoint,
  ErrorBody,
  type ErrorCode,
  isObject,
  PROOF_HEADER,
  takesIdempotencyKey,
} from '@svc/protocol';
import { type Db, runAs } from '@svc/store';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  type Authenticate,
  type Call,
  type Caller,
  type Handler,
  type Handlers,
  Streamed,
  WithStatus,
} from './call.ts';
import { claimKey, fingerprintOf, type KeyClaim, type KeyWaiters, type StoredAnswer } from './idempotency.ts';
import { type AdmissionControl, clientOf, isExpensive, type RequestLimits, takeRequest } from './limits.ts';
import { errorBody, linkReference } from './request-hooks.ts';
import { findFault, findIgnoredFields, readQuery } from './validation.ts';

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | undefined;
  }
  interface FastifyContextConfig {
    operationId?: string;
  }
}

export interface EndpointDeps {
  readonly db: Db;
  readonly authenticate: Authenticate;
  readonly limits: RequestLimits;
  readonly admission: AdmissionControl;
  readonly keyWaiters: KeyWaiters;
  readonly handlers: Handlers;
  readonly endpoints?: readonly Endpoint[];
}

export function registerEndpoints(app: FastifyInstance, deps: EndpointDeps): void {
  const handlers = deps.handlers as unknown as Record<string, Handler<Endpoint> | undefined>;
  app.decorateRequest('caller', undefined);
  app.addHook('preClose', async () => deps.admission.stop());
  for (const endpoint of deps.endpoints ?? allEndpoints) {
    const handler = handlers[endpoint.operationId];
    if (!handler && !endpoint.planned) throw new Error(`No handler for ${endpoint.operationId}`);
    app.route({
      method: endpoint.method,
      url: endpoint.path.replace(/\{(\w+)\}/g, ':$1'),
      schema: { response: { ...endpoint.answers, '4xx': ErrorBody, '5xx': ErrorBody } },
      config: { operationId: endpoint.operationId },
      onRequest: (request, reply) => admit(deps, endpoint, request, reply),
      handler: (request, reply) => {
        const run = () => handle(deps, endpoint, handler ?? notImplemented, request, reply);
        const own = () => (request.caller ? runAs(request.caller.organizationId, run) : run());
        return request.trace ? request.trace.within(own) : own();
      },
    });
  }
}

const notImplemented: Handler<Endpoint> = () => {
  throw new ApiError('not_implemented');
};

async function admit(
  deps: EndpointDeps,
  endpoint: Endpoint,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const caller = await deps.authenticate(endpoint, request);
  request.caller = caller;
  await countRequest(deps.limits, caller, request, reply);
}

export type UnroutedDeps = Pick<EndpointDeps, 'authenticate' | 'limits'>;

/** Counts a request that reaches no endpoint (unknown path, unreadable URL) for its caller, where the key is valid. */
export async function admitUnrouted(
  { authenticate, limits }: UnroutedDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const access = request.headers['x-api-key'] === undefined ? 'either' : 'public';
  const caller = await authenticate({ access, method: 'GET' }, request).catch((error: unknown) => {
    if (error instanceof ApiError && error.code !== 'rate_limited') return undefined;
    throw error;
  });
  if (caller) await countRequest(limits, caller, request, reply);
}

async function countRequest(
  limits: RequestLimits,
  caller: Caller | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const decision = await takeRequest(limits, caller, request.ip);
  reply.header('ratelimit-limit', decision.limit);
  reply.header('ratelimit-remaining', decision.remaining);
  reply.header('ratelimit-reset', decision.resetSeconds);
  if (decision.allowed) return;
  reply.header('retry-after', decision.resetSeconds);
  throw new ApiError('rate_limited');
}

async function handle(
  { db, admission, keyWaiters, authenticate }: EndpointDeps,
  endpoint: Endpoint,
  handler: Handler<Endpoint>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { body } = request;
  if (body !== undefined) nameIgnoredFields(endpoint, body, reply);
  const input = readInput(endpoint, request);
  // Before a connection or a key is taken: a request that waits here blocks no other.
  if (isExpensive(endpoint.operationId)) await admission.start();
  else admission.served();
  const key = takesIdempotencyKey(endpoint) ? readKey(request) : undefined;
  if (key === undefined)
    return send(request, reply, await runHandler({ db, authenticate, endpoint, handler, request, reply }, input));

  const fingerprint = fingerprintOf(request.method, request.url, request.body);
  const result = await claimKey(db, { scope: scopeOf(request), key, fingerprint }, keyWaiters);
  if ('replay' in result) return send(request, reply.header('idempotency-replayed', 'true'), result.replay);
  return send(
    request,
    reply,
    await runOnce({ db, authenticate, endpoint, handler, request, reply }, input, result.claim),
  );
}

function nameIgnoredFields({ body: schema }: Endpoint, body: unknown, reply: FastifyReply): void {
  const names = findIgnoredFields(schema, body);
  if (names.length > 0) reply.header('x-svc-ignored-fields', names.join(', '));
}

type Input = Pick<Call<Endpoint>, 'params' | 'query' | 'body'>;

function readInput(endpoint: Endpoint, request: FastifyRequest): Input {
  const query = endpoint.query && readQuery(endpoint.query, request.query as Record<string, unknown>);
  const body = readBody(endpoint, request.body);
  const ofPath = endpoint.params && findFault('path', endpoint.params, request.params);
  const ofQuery = endpoint.query && findFault('query', endpoint.query, query);
  const ofBody = faultOfBody(endpoint, body);
  if (ofPath || ofQuery || ofBody) {
    const faults = [ofPath, ofQuery, ofBody].filter((fault) => fault !== undefined);
    throw new ApiError('invalid_request', `${faults.join('; ')}.`);
  }
  return { params: request.params, query, body } as Input;
}

interface Run {
  readonly db: Db;
  readonly authenticate: Authenticate;
  readonly endpoint: Endpoint;
  readonly handler: Handler<Endpoint>;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

async function runHandler(run: Run, input: Input, claim?: KeyClaim): Promise<StoredAnswer> {
  const call = new RequestCall(run, input, claim);
  const answer = toAnswer(run.endpoint, await run.handler(call as unknown as Call<Endpoint>));
  if (!call.isStored) await claim?.store(run.db, withoutShownOnce(run.endpoint, answer));
  return answer;
}

const successOf = new WeakMap<Endpoint, number>();

function toAnswer(endpoint: Endpoint, answer: unknown): StoredAnswer {
  if (answer instanceof WithStatus) return answer;
  const status = successOf.get(endpoint) ?? Number(Object.keys(endpoint.answers)[0]);
  successOf.set(endpoint, status);
  return { status, body: answer };
}

/**
 * A class, because an object with as many accessors for each request costs as much as a small answer. It is cast for the handler: which
 * types `caller`, `closed` and `transact` have depends on the endpoint.
 */
class RequestCall implements Omit<Call<Endpoint>, 'caller' | 'closed' | 'transact'> {
  readonly params: Input['params'];
  readonly query: Input['query'];
  readonly body: Input['body'];
  readonly caller: Caller | undefined;
  readonly requestKey: string | undefined;
  isStored = false;
  readonly #run: Run;
  readonly #claim: KeyClaim | undefined;

  constructor(run: Run, { params, query, body }: Input, claim: KeyClaim | undefined) {
    this.params = params;
    this.query = query;
    this.body = body;
    this.caller = run.request.caller;
    this.requestKey = claim?.requestKey;
    this.#run = run;
    this.#claim = claim;
  }

  get client(): string {
    return clientOf(this.#run.request.ip);
  }

  get proofOfWork(): string | undefined {
    const proof = this.#run.request.headers[PROOF_HEADER];
    return typeof proof === 'string' ? proof : undefined;
  }

  get userAgent(): string | undefined {
    return this.#run.request.headers['user-agent'];
  }

  get isLocal(): boolean {
    return isLocal(this.#run.request);
  }

  get lastEventId(): string | undefined {
    const id = this.#run.request.headers['last-event-id'];
    return typeof id === 'string' && id !== '' ? id : undefined;
  }

  get closed(): AbortSignal {
    const closed = new AbortController();
    this.#run.reply.raw.once('close', () => closed.abort());
    return closed.signal;
  }

  get isStillAllowed(): () => Promise<boolean> {
    const { authenticate, endpoint, request } = this.#run;
    return () =>
      authenticate(endpoint, request).then(
        () => true,
        () => false,
      );
  }

  get setCookie(): (cookie: string) => void {
    return (cookie) => void this.#run.reply.header('set-cookie', cookie);
  }

  get transact(): (work: (tx: Db) => Promise<unknown>) => Promise<unknown> {
    return async (work) => {
      const { db, endpoint } = this.#run;
      const answer = await db.tx(async (tx) => {
        const result = await work(tx);
        await this.#claim?.store(tx, withoutShownOnce(endpoint, toAnswer(endpoint, result)));
        return result;
      });
      this.isStored = true;
      return answer;
    };
  }
}

const LOCAL_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/i;
const LOCAL_PEER = /^(::ffff:)?127\.|^::1$/;

/** By name too: a page elsewhere can point a name of its own to this machine. */
function isLocal({ headers, socket }: FastifyRequest): boolean {
  const isForwarded = headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined;
  return !isForwarded && LOCAL_HOST.test(headers.host ?? '') && LOCAL_PEER.test(socket.remoteAddress ?? '');
}

/** Refusals that a retry can resolve are not stored: they would be replayed for a day. */
const transientRefusals: ReadonlySet<ErrorCode> = new Set([
  'wallet_not_deployed',
  'sponsorship_limit_reached',
  'mail_limit_reached',
  'transaction_not_found',
  'rate_limited',
  'proof_of_work_required',
  'invalid_proof_of_work',
]);

/** Stores the answer or refusal for the key. A server fault or transient refusal releases it for a retry. */
async function runOnce(run: Run, input: Input, claim: KeyClaim): Promise<StoredAnswer> {
  const { db } = run;
  try {
    return await runHandler(run, input, claim);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500 || transientRefusals.has(error.code)) {
      await claim.release();
      throw error;
    }
    const answer = { status: error.status, body: errorBody(error) };
    await claim.store(db, answer);
    return answer;
  }
}

function send(request: FastifyRequest, reply: FastifyReply, { status, body }: StoredAnswer): FastifyReply {
  if (status >= 400) {
    request.errorCode = (body as ErrorBody).error;
    linkReference(request, reply);
  }
  if (body instanceof Streamed) return sendStream(request, reply.code(status), body);
  return reply.code(status).type('application/json; charset=utf-8').send(body);
}

function sendStream({ method }: FastifyRequest, reply: FastifyReply, { chunks }: Streamed): FastifyReply {
  // Proxies such as nginx collect answers otherwise.
  reply.type('text/event-stream; charset=utf-8').header('x-accel-buffering', 'no');
  return reply.send(method === 'HEAD' ? '' : Readable.from(chunks));
}

function readKey(request: FastifyRequest): string | undefined {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && /^[\x20-\x7e]{1,255}$/.test(key)) return key;
  throw new ApiError('invalid_request', 'The Idempotency-Key header must be 1 to 255 printable ASCII characters.');
}

function scopeOf({ caller, url }: FastifyRequest): string {
  if (!caller) return `anyone ${url.split('?', 1)[0]}`;
  const owner = `${caller.organizationId} ${caller.environment}`;
  return caller.externalUserId === undefined ? owner : `${owner} ${caller.externalUserId}`;
}

type Bodied = Pick<Endpoint, 'method' | 'body'>;

export function readBody({ body: schema }: Bodied, body: unknown): unknown {
  if (!schema) return undefined;
  const { required = [] } = schema as { required?: readonly string[] };
  return body === undefined && required.length === 0 ? {} : body;
}

export function faultOfBody({ method, body: schema }: Bodied, body: unknown): string | undefined {
  if (!schema) return undefined;
  const { properties = {} } = schema as { properties?: object };
  const names = Object.keys(properties);
  // Unknown fields are ignored, so a typo in the only field would look like a successful change.
  const isEmpty = method === 'PATCH' && isObject(body) && !names.some((name) => Object.hasOwn(body, name));
  return isEmpty ? `body must have at least one of ${names.join(', ')}` : findFault('body', schema, body);
}

/** The answer to store: null in place of secrets that are shown once. */
export function withoutShownOnce({ shownOnce }: Pick<Endpoint, 'shownOnce'>, answer: StoredAnswer): StoredAnswer {
  const { status, body } = answer;
  if (!shownOnce || body === null || typeof body !== 'object') return answer;
  const hidden = shownOnce.filter((field) => Object.hasOwn(body, field)).map((field) => [field, null]);
  return { status, body: { ...body, ...Object.fromEntries(hidden) } };
}
