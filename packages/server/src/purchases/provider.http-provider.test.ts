import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it, onTestFinished } from 'vitest';
import { trusted } from '../outbound/address-guard.ts';
import {
  createHttpProvider,
  createProviders,
  encryptedOutside,
  type ProviderOrder,
  UnknownOutcomeError,
  urlOfOrder,
} from './provider.ts';

const SECRET = Buffer.alloc(32, 7);
const theirs = new Webhook(`whsec_${SECRET.toString('base64')}`);
const never = new AbortController().signal;
const order: ProviderOrder = {
  orderId: 'txn_01',
  environment: 'production',
  organizationId: 'org_01',
  catalogue: 'deployment',
  providerId: 'telcel',
  skuId: 'telcel-50',
  reference: '5512345678',
  amount: '50.5',
  currency: 'MXN',
};

interface Asked {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A fulfilment service that answers as it is told, and what it was asked. */
async function startService(answer: (response: ServerResponse) => void) {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    asked.push({ method: request.method, path: request.url, headers: request.headers, body });
    answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/orders` };
}

const says = (status: number, body: unknown) => (response: ServerResponse) => {
  response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
};
const providerAt = (url: string, timeoutMs?: number) =>
  createHttpProvider({ url, secret: SECRET }, { guard: trusted(), ...(timeoutMs !== undefined && { timeoutMs }) });

describe('an order', () => {
  it('is posted with its id as the key of repetitions, signed so that Standard Webhooks verifies it', async () => {
    const { asked, url } = await startService(says(200, { status: 'completed', fileNumber: '0001' }));
    expect(await providerAt(`${url}?tenant=1`).order(order, never)).toEqual({ state: 'completed', fileNumber: '0001' });
    const [request] = asked;
    expect(request).toMatchObject({
      method: 'POST',
      path: '/orders?tenant=1',
      headers: { 'content-type': 'application/json', 'idempotency-key': 'txn_01', 'webhook-id': 'txn_01' },
    });
    expect(theirs.verify(request?.body ?? '', request?.headers as Record<string, string>)).toEqual(order);
  });

  it('is the same bytes each time it is sent, and nothing that was not meant for others', async () => {
    const { asked, url } = await startService(says(202, { status: 'accepted' }));
    const provider = providerAt(url);
    await provider.order(order, never);
    await provider.order({ ...order, secretNote: 'x' } as ProviderOrder, never);
    expect(asked[1]?.body).toBe(asked[0]?.body);
  });

  it.each([
    [200, { status: 'failed', reason: 'No credit' }, { state: 'failed', reason: 'No credit' }],
    [200, { status: 'accepted' }, { state: 'accepted' }],
    [202, { status: 'accepted' }, { state: 'accepted' }],
  ])('that is answered %i %j has that result', async (status, body, result) => {
    const { url } = await startService(says(status, body));
    expect(await providerAt(url).order(order, never)).toEqual(result);
  });
});

describe('a look-up', () => {
  it.each([
    ['/orders', '/orders/txn_01'],
    ['/orders/', '/orders/txn_01'],
    ['/', '/txn_01'],
    ['/orders?tenant=1&x=%2F', '/orders/txn_01?tenant=1&x=%2F'],
    ['/orders/?tenant=1', '/orders/txn_01?tenant=1'],
  ])('below %s asks for %s', (path, expected) => {
    expect(urlOfOrder(`https://example.com${path}`, 'txn_01')).toBe(`https://example.com${expected}`);
  });

  it('is signed as an empty body', async () => {
    const { asked, url } = await startService(says(200, { status: 'accepted' }));
    expect(await providerAt(`${url}?tenant=1`).lookUp('txn_01', never)).toEqual({ state: 'accepted' });
    const [request] = asked;
    expect(request).toMatchObject({ method: 'GET', path: '/orders/txn_01?tenant=1', body: '' });
    expect(request?.headers['idempotency-key']).toBeUndefined();
    const seconds = Number(request?.headers['webhook-timestamp']);
    expect(request?.headers['webhook-signature']).toBe(theirs.sign('txn_01', new Date(seconds * 1_000), ''));
  });

  it('finds an order unknown where the service says so, with both its status and its word', async () => {
    const { url } = await startService(says(404, { status: 'unknown' }));
    expect(await providerAt(url).lookUp('txn_01', never)).toEqual({ state: 'unknown' });
  });
});

describe('the outcome is unknown', () => {
  const answers: [string, (response: ServerResponse) => void][] = [
    ['a 500', says(500, { status: 'completed', fileNumber: '1' })],
    ['a 400', says(400, { error: 'no' })],
    ['a 404 of a proxy before it', says(404, 'Not Found')],
    ['a 404 with another word', says(404, { status: 'failed', reason: 'no' })],
    ['an unknown with 200', says(200, { status: 'unknown' })],
    ['a result with 201', says(201, { status: 'completed', fileNumber: '1' })],
    ['a completed with 202', says(202, { status: 'completed', fileNumber: '1' })],
    ['a failed with 202', says(202, { status: 'failed', reason: 'no' })],
    ['no body', says(200, '')],
    ['no JSON', says(200, '<html>')],
    ['a word that is none', says(200, { status: 'done' })],
    ['a redirect', (response) => response.writeHead(302, { location: '/elsewhere' }).end('{"status":"accepted"}')],
    ['too long an answer', says(200, { status: 'accepted', filler: 'x'.repeat(70_000) })],
    ['a closed connection', (response) => response.destroy()],
    ['half an answer', (response) => response.writeHead(200, { 'content-length': '99' }).end('{"status":"accepted"}')],
  ];
  it.each(answers)('after %s', async (_, answer) => {
    const { asked, url } = await startService(answer);
    const provider = providerAt(url);
    await expect(provider.order(order, never)).rejects.toThrow(UnknownOutcomeError);
    await expect(provider.lookUp('txn_01', never)).rejects.toThrow(UnknownOutcomeError);
    expect(asked).toHaveLength(2);
  });

  it('after an order that is called unknown', async () => {
    const { url } = await startService(says(404, { status: 'unknown' }));
    await expect(providerAt(url).order(order, never)).rejects.toThrow(UnknownOutcomeError);
  });

  it('when no answer comes in time', async () => {
    const { url } = await startService(() => {});
    await expect(providerAt(url, 50).order(order, never)).rejects.toThrow(UnknownOutcomeError);
  });

  it('when the port is closed, and the error says neither path nor query', async () => {
    const asked = providerAt('http://127.0.0.1:1/orders/secret-path?token=hunter2').order(order, never);
    const error = await asked.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UnknownOutcomeError);
    expect(String(error)).not.toMatch(/secret-path|hunter2|5512345678/);
  });
});

it('an order that is given up throws what it was given up for', async () => {
  const stop = new AbortController();
  const { url } = await startService(() => stop.abort(new Error('stopping')));
  await expect(providerAt(url).order(order, stop.signal)).rejects.toThrow('stopping');
});

describe('in production', () => {
  it('orders leave the own network encrypted or not at all', async () => {
    const guard = { ...encryptedOutside(), lookup: async () => ['8.8.8.8'] };
    const provider = createHttpProvider({ url: 'http://orders.example.com/', secret: SECRET }, { guard });
    await expect(provider.order(order, never)).rejects.toThrow('FULFILMENT_URL');
    const { allows } = encryptedOutside();
    expect(allows('8.8.8.8', new URL('https://orders.example.com/'))).toBe(true);
    expect(allows('10.0.0.1', new URL('http://orders.internal/'))).toBe(true);
  });

  it('there is no provider where none is set', async () => {
    const { url } = await startService(says(202, { status: 'accepted' }));
    const access = { url, secret: SECRET };
    const providers = createProviders((environment) => (environment === 'development' ? access : undefined));
    expect(providers('production')).toBeUndefined();
    expect(await providers('development')?.order(order, never)).toEqual({ state: 'accepted' });
  });
});
