import { createHash } from 'node:crypto';
import { Agent } from 'node:http';
import { type Endpoint, type ErrorCode, errorsOf } from '@svc/protocol';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultOfError } from '../support/assertions.ts';
import { caller, keyHeaders, type Reply, send, sendAsIs, sendBytes } from '../support/client.ts';
import { type ExampleData, exampleOf, keyedEndpoints, prepareExampleData } from '../support/examples.ts';
import { sized } from '../support/faults.ts';
import { bodiesLike, requestsTo } from '../support/fuzz.ts';
import { errorLines, type ServerProcess } from '../support/server.ts';
import { TestService } from '../support/service.ts';

/** Fixed, so that a failure can be repeated. */
const SEED = 20_261_115;
const REQUESTS_PER_ENDPOINT = sized(60, 20);
const TRACE = /\n\s+at |node_modules|file:\/\/|\.(ts|js|mjs|cjs|sql)\b:?\d*|\/(packages|src|home|root|usr|tmp)\//;

let service: TestService<ServerProcess>;
let data: ExampleData;
const agent = new Agent({ keepAlive: true, maxSockets: 8 });
beforeAll(async () => {
  service = await TestService.start();
  data = await prepareExampleData(service);
});
afterAll(async () => {
  const { server } = service;
  agent.destroy();
  const ready = await send(`${server.origin}/readyz`);
  const works = await caller(server)('/skus?limit=1');
  const code = await server.end();
  const errors = errorLines(server.output());
  await service.stop();
  // The process still serves, ends well and has logged no error.
  expect([ready.status, works.status, code, errors]).toEqual([200, 200, 0, []]);
});

/** Why an answer is never allowed; undefined where it is. */
function faultOf(reply: Reply, mayBeUnbuilt: boolean): string | undefined {
  const { status, text } = reply;
  if (TRACE.test(text)) return `it shows where our code is: ${text.slice(0, 300)}`;
  if (status >= 200 && status < 300) return undefined;
  if (status >= 500 && !(status === 501 && mayBeUnbuilt)) return `status ${status}: ${text.slice(0, 300)}`;
  const fault = faultOfError(reply);
  return fault && `status ${status}, ${fault}`;
}

/** A code that the endpoint does not declare. Malformed HTTP and other paths do not reach the endpoint. */
function surpriseOf({ status, body }: Reply, endpoint: Endpoint): string | undefined {
  if (status < 400) return undefined;
  const promised = errorsOf(endpoint).map((use): ErrorCode => (typeof use === 'string' ? use : use.code));
  const before: readonly ErrorCode[] = endpoint.params ? ['invalid_request', 'not_found'] : ['invalid_request'];
  const { error } = body as { error: ErrorCode };
  return [...promised, ...before].includes(error) ? undefined : `it does not promise ${status} ${error}`;
}

const named = (endpoints: readonly Endpoint[]) =>
  endpoints.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const);

/** A stream goes on for an hour. */
const answering = keyedEndpoints.filter(({ stream }) => !stream);

describe('input of any kind', () => {
  it.concurrent.each(named(answering))('is answered without a fault of ours: %s', async (_, endpoint) => {
    const { server } = service;
    const base = new URL(server.credentials.baseUrl).pathname;
    const requests = requestsTo(endpoint, exampleOf(endpoint, data), base, keyHeaders(server));
    const property = fc.asyncProperty(requests, async (request) => {
      const reply = await sendAsIs(server.origin, request, agent);
      const fault = faultOf(reply, endpoint.planned === true) ?? surpriseOf(reply, endpoint);
      if (fault !== undefined) throw new Error(fault);
    });
    await fc.assert(property, { seed: SEED, numRuns: REQUESTS_PER_ENDPOINT });
  });

  it.concurrent('is answered without a fault of ours: POST /sandbox/identity/token', async () => {
    const { origin } = service.server;
    const headers = { 'content-type': 'application/json' };
    const property = fc.asyncProperty(bodiesLike({ sub: 'ana', expiresInSeconds: 60 }), async (body) => {
      const request = { method: 'POST', path: '/sandbox/identity/token', headers, body };
      const fault = faultOf(await sendAsIs(origin, request, agent), false);
      if (fault !== undefined) throw new Error(fault);
    });
    await fc.assert(property, { seed: SEED, numRuns: REQUESTS_PER_ENDPOINT });
  });
});

const HOST = 'Host: localhost\r\n';
const broken: Record<string, string | Buffer> = {
  'no Host': 'GET /v1/skus HTTP/1.1\r\n\r\n',
  'two Hosts': `GET / HTTP/1.1\r\n${HOST}${HOST}\r\n`,
  'no HTTP at all': 'hello\r\n\r\n',
  'random bytes': Buffer.from(Array.from({ length: 600 }, (_, index) => (index * 167) % 256)),
  'a TLS hello': Buffer.from('16030100c8010000c403035f', 'hex'),
  'HTTP 0.9': 'GET /\r\n',
  'HTTP 9.9': `GET / HTTP/9.9\r\n${HOST}\r\n`,
  'the HTTP/2 preface': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'a method in small letters': `get / HTTP/1.1\r\n${HOST}\r\n`,
  'an unknown method': `BREW /v1/skus HTTP/1.1\r\n${HOST}\r\n`,
  TRACE: `TRACE /v1/skus HTTP/1.1\r\n${HOST}Authorization: Bearer x\r\n\r\n`,
  'OPTIONS *': `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`,
  'an absolute address': `GET http://elsewhere.example/v1/skus HTTP/1.1\r\n${HOST}\r\n`,
  'a blank in the path': `GET /v1/sk us HTTP/1.1\r\n${HOST}\r\n`,
  'no slash': `GET v1/skus HTTP/1.1\r\n${HOST}\r\n`,
  'raw bytes in the path': Buffer.from(`GET /v1/skus/\xff\xfe HTTP/1.1\r\n${HOST}\r\n`, 'latin1'),
  'a path of 10 kB': `GET /v1/skus/${'x'.repeat(10_000)} HTTP/1.1\r\n${HOST}\r\n`,
  'a path of 100 kB': `GET /${'x'.repeat(100_000)} HTTP/1.1\r\n${HOST}\r\n`,
  'a header of 20 kB': `GET /v1/skus HTTP/1.1\r\n${HOST}x-api-key: ${'x'.repeat(20_000)}\r\n\r\n`,
  'three thousand headers': `GET /v1/skus HTTP/1.1\r\n${HOST}${'a: b\r\n'.repeat(3_000)}\r\n`,
  'a control character in a header': `POST /v1/gifts HTTP/1.1\r\n${HOST}Idempotency-Key: a\x01b\r\n\r\n`,
  'a NUL in a header': `POST /v1/gifts HTTP/1.1\r\n${HOST}Idempotency-Key: a\0b\r\n\r\n`,
  'a folded header': `GET /v1/skus HTTP/1.1\r\n${HOST}x-api-key: a\r\n b\r\n\r\n`,
  'a header without a name': `GET /v1/skus HTTP/1.1\r\n${HOST}: a\r\n\r\n`,
  'a negative length': `POST /v1/gifts HTTP/1.1\r\n${HOST}Content-Length: -1\r\n\r\n`,
  'two lengths': `POST /v1/gifts HTTP/1.1\r\n${HOST}Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}`,
  'a length and chunks': `POST /v1/gifts HTTP/1.1\r\n${HOST}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  'a length beyond the body': claim('Content-Length: 1000', '{"a":'),
  'a length of 9 exabytes': claim('Content-Length: 9999999999999999999', '{}'),
  'a chunk of no size': claim('Transfer-Encoding: chunked', 'ZZ\r\n{}\r\n0\r\n\r\n'),
  'a chunk of all sizes': claim('Transfer-Encoding: chunked', 'ffffffffffffffffff\r\n{}\r\n'),
  'a chunk without an end': claim('Transfer-Encoding: chunked', '5\r\n{"a":\r\n'),
  'chunks by another name': claim('Transfer-Encoding: gzip, chunked', '2\r\n{}\r\n0\r\n\r\n'),
  'an unknown expectation': claim('Expect: miracles\r\nContent-Length: 2', '{}'),
  'an upgrade': `GET /v1/skus HTTP/1.1\r\n${HOST}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
  'two requests, the second broken': `GET /healthz HTTP/1.1\r\n${HOST}\r\nnonsense\r\n\r\n`,
};

function claim(headers: string, body: string): string {
  return `POST /v1/gifts/claim/ABCD/redeem HTTP/1.1\r\n${HOST}Content-Type: application/json\r\n${headers}\r\n\r\n${body}`;
}

describe('what is hardly HTTP', () => {
  it.concurrent.each(Object.entries(broken))('gets an Error and nothing else: %s', async (_, bytes) => {
    const replies = await sendBytes(service.server.origin, bytes);
    expect(replies.length).toBeGreaterThan(0);
    expect(replies.map((reply) => faultOf(reply, false)).filter((fault) => fault !== undefined)).toEqual([]);
  });

  it('is hung up on when it wants a tunnel', async () => {
    expect(await sendBytes(service.server.origin, `CONNECT elsewhere.example:443 HTTP/1.1\r\n${HOST}\r\n`)).toEqual([]);
  });
});

describe('an Idempotency-Key of an endpoint without credentials', () => {
  it('does not mind how long the address is', async () => {
    // Random, because a database compresses repetitions.
    const noise = Array.from({ length: 100 }, (_, index) => createHash('sha256').update(`${index}`).digest('hex')).join(
      '',
    );
    const reply = await send(`${service.server.credentials.baseUrl}/gifts/claim/ABCD/redeem?${noise}`, {
      method: 'POST',
      body: { walletAddress: '0x1', chain: 'starknet' },
      headers: { 'idempotency-key': 'k' },
    });
    expect(faultOf(reply, true)).toBeUndefined();
  });
});
