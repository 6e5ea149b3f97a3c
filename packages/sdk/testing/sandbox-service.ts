import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApiError, type Endpoint, endpoints } from '@svc/protocol';
import { Ajv } from 'ajv';
import addFormatsModule from 'ajv-formats';

export interface Call {
  readonly params: Record<string, string>;
  readonly query: Record<string, string>;
  readonly body: unknown;
}
export type Handler = (call: Call) => unknown;
export type Handlers = Partial<Record<keyof typeof endpoints, Handler>>;

export interface ReceivedRequest extends Call {
  readonly operation: string;
  readonly headers: Record<string, string | string[] | undefined>;
}

export interface SandboxService {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  readonly origin: string;
  readonly received: ReceivedRequest[];
  /** Drops the next answer of this operation after handling it. */
  loseAnswer(operation: keyof typeof endpoints): void;
  /** Expires all idempotency keys. */
  deleteKeys(): void;
  close(): Promise<void>;
}

/** An answer with another status than the operation's first. */
export class Reply {
  readonly status: number;
  readonly body: unknown;

  constructor(status: number, body: unknown) {
    this.status = status;
    this.body = body;
  }
}

const ajv = new Ajv({ strict: false, coerceTypes: true });
(addFormatsModule as unknown as (ajv: Ajv) => void)(ajv);

/**
 * A test service that validates requests and answers against the schemas. A POST with a known Idempotency-Key returns
 * the first answer, refusals included. `node` answers at /rpc.
 */
export async function startSandboxService(
  handlers: Handlers,
  node?: (call: NodeCall) => unknown,
): Promise<SandboxService> {
  const received: ReceivedRequest[] = [];
  const stored = new Map<string, { readonly body: string; readonly reply: Reply }>();
  const lost: string[] = [];

  async function answer(request: IncomingMessage, response: ServerResponse) {
    const text = await readText(request);
    const url = new URL(request.url ?? '/', 'http://localhost');
    const body: unknown = text === '' ? undefined : JSON.parse(text);
    if (url.pathname === '/rpc') return send(response, new Reply(200, answerNode(node, body as NodeCall)));
    const found = route(request.method ?? '', url.pathname.replace(/^\/v1/, ''));
    if (!found) return send(response, new Reply(404, { error: 'not_found', message: url.pathname }));
    const call = { params: found.params, query: Object.fromEntries(url.searchParams), body };
    received.push({ ...call, operation: found.endpoint.operationId, headers: request.headers });
    const key = request.headers['idempotency-key'];
    const known = typeof key === 'string' ? stored.get(key) : undefined;
    const reply = known ? replay(known, text) : await perform(handlers, found.endpoint, call);
    if (typeof key === 'string' && !known && isStored(reply)) stored.set(key, { body: text, reply });
    const loss = lost.indexOf(found.endpoint.operationId);
    if (loss < 0) return send(response, reply);
    lost.splice(loss, 1);
    request.socket.destroy();
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      send(response, new Reply(599, { error: 'test_service', message: String(error) }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    baseUrl: `${origin}/v1`,
    origin,
    received,
    loseAnswer: (operation) => lost.push(operation),
    deleteKeys: () => stored.clear(),
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function perform(handlers: Handlers, endpoint: Endpoint, call: Call): Promise<Reply> {
  for (const part of ['query', 'body'] as const) {
    const problem = endpoint[part] && schemaError(endpoint[part], call[part]);
    if (problem) return new Reply(400, { error: 'invalid_request', message: `${part}${problem}` });
  }
  const handler = handlers[endpoint.operationId as keyof typeof endpoints];
  if (!handler) return new Reply(501, { error: 'not_implemented', message: endpoint.operationId });
  try {
    const value = await handler(call);
    const reply = value instanceof Reply ? value : new Reply(Number(Object.keys(endpoint.answers)[0]), value);
    const schema = endpoint.answers[reply.status];
    const problem = schema ? schemaError(schema, reply.body) : ' has no such status';
    if (problem) throw new Error(`the answer of ${endpoint.operationId}${problem}`);
    return reply;
  } catch (error) {
    if (error instanceof ApiError) return new Reply(error.status, { error: error.code, message: error.message });
    throw error;
  }
}

/** Undefined for a valid value. */
function schemaError(schema: object, value: unknown): string | undefined {
  const validate = ajv.compile(schema);
  if (validate(structuredClone(value))) return undefined;
  return ` ${validate.errors?.[0]?.instancePath} ${validate.errors?.[0]?.message}`;
}

/** As in the service: transient errors are not stored. */
function isStored({ status, body }: Reply): boolean {
  const { error } = body as { error?: string };
  if (status >= 500 || status === 401 || status === 429) return false;
  return error !== 'wallet_not_deployed' && error !== 'transaction_not_found' && error !== 'invalid_request';
}

function replay(known: { body: string; reply: Reply }, body: string): Reply {
  if (known.body === body) return known.reply;
  return new Reply(400, { error: 'idempotency_key_reused', message: 'Use a new key.' });
}

function route(method: string, path: string) {
  const matches = Object.values(endpoints as Record<string, Endpoint>).flatMap((endpoint) => {
    const pattern = endpoint.path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)');
    const match = endpoint.method === method ? new RegExp(`^${pattern}$`).exec(path) : null;
    return match ? [{ endpoint, params: { ...match.groups } as Record<string, string> }] : [];
  });
  // A path without parameters is more specific.
  return matches.toSorted((one, other) => Object.keys(one.params).length - Object.keys(other.params).length)[0];
}

export interface NodeCall {
  readonly method: string;
  readonly params: Record<string, unknown>;
}

function answerNode(node: ((call: NodeCall) => unknown) | undefined, call: NodeCall): unknown {
  return { jsonrpc: '2.0', id: 1, result: node?.(call) };
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk as Uint8Array);
  return Buffer.concat(chunks).toString('utf8');
}

function send(response: ServerResponse, { status, body }: Reply): void {
  response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'req_test' });
  response.end(JSON.stringify(body));
}
