import { sql } from '@svc/store';
import type { TestDatabase } from '@svc/store/testing';
import Fastify, { type FastifyInstance } from 'fastify';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serverDatabase } from '../../testing/database.ts';
import { endOf, storePurchase } from '../../testing/stored-purchases.ts';
import { replyWithError } from '../http/request-hooks.ts';
import { registerProviderCallback } from './fulfilment.ts';

const secrets = { production: Buffer.alloc(32, 1), development: Buffer.alloc(32, 2) };
const signers = {
  production: new Webhook(`whsec_${secrets.production.toString('base64')}`),
  development: new Webhook(`whsec_${secrets.development.toString('base64')}`),
};

let database: TestDatabase;
let app: FastifyInstance;
beforeAll(async () => {
  database = await serverDatabase();
  app = Fastify();
  app.setErrorHandler(replyWithError);
  const fulfilment = (environment: keyof typeof secrets) => ({
    url: 'https://example.com',
    secret: secrets[environment],
  });
  app.register(async (v1) => v1.register((scope) => registerProviderCallback(scope, { db: database.db, fulfilment })), {
    prefix: '/v1',
  });
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

const completed = { status: 'completed', fileNumber: '0001' };
const failed = { status: 'failed', reason: 'Sin saldo' };

interface Post {
  readonly signer?: Webhook;
  readonly id?: string;
  readonly at?: Date;
  readonly sent?: string;
  readonly headers?: Record<string, string>;
}

/** Signs and posts a result, or what differs from that. */
async function tell(orderId: string, result: unknown, options: Post = {}) {
  const { signer = signers.production, id = orderId, at = new Date(), headers = {} } = options;
  const body = typeof result === 'string' ? result : JSON.stringify(result);
  const signed = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': signer.sign(id, at, body),
  };
  const response = await app.inject({
    method: 'POST',
    url: `/v1/provider/orders/${orderId}/result`,
    headers: { 'content-type': 'application/json', ...signed, ...headers },
    payload: options.sent ?? body,
  });
  return { status: response.statusCode, body: response.body === '' ? undefined : response.json() };
}
const newOrder = () => storePurchase(database.db, { status: 'PROCESSING', environment: 'production' });
const events = (id: string) =>
  database.db.rows<{ type: string }>(sql`select type from events where subject = ${id}`).then((rows) => rows.length);

describe('a result that a fulfilment service tells by itself', () => {
  it('completes its order: 204, and again 204, and one event', async () => {
    const id = await newOrder();
    expect(await tell(id, completed)).toEqual({ status: 204, body: undefined });
    expect(await endOf(database.db, id)).toMatchObject({ status: 'SUCCESS', fileNumber: '0001', refund: null });
    expect((await tell(id, completed)).status).toBe(204);
    expect(await events(id)).toBe(1);
  });

  it('fails it, and its payment is due for refund; why may be said in other words later', async () => {
    const id = await newOrder();
    expect((await tell(id, failed)).status).toBe(204);
    expect((await tell(id, { ...failed, reason: 'No credit' })).status).toBe(204);
    expect(await endOf(database.db, id)).toMatchObject({ status: 'FAILED', reason: 'Sin saldo', refund: 'DUE' });
  });

  it('that is only an accepted ends nothing, before the end or after it', async () => {
    const id = await newOrder();
    expect((await tell(id, { status: 'accepted' })).status).toBe(204);
    expect(await endOf(database.db, id)).toMatchObject({ status: 'PROCESSING', accepted: true });
    await tell(id, completed);
    expect((await tell(id, { status: 'accepted' })).status).toBe(204);
    expect(await endOf(database.db, id)).toMatchObject({ status: 'SUCCESS' });
  });

  it.each([
    [completed, failed, 'SUCCESS'],
    [failed, completed, 'FAILED'],
    [completed, { ...completed, fileNumber: '0002' }, 'SUCCESS'],
  ])('%j is not changed by %j later: 400', async (first, second, status) => {
    const id = await newOrder();
    await tell(id, first);
    const before = await endOf(database.db, id);
    const { status: code, body } = await tell(id, second);
    expect([code, body]).toEqual([400, { error: 'invalid_request', message: expect.stringContaining(status) }]);
    expect(await endOf(database.db, id)).toEqual(before);
    expect(await events(id)).toBe(1);
  });

  it('counts once of ten contradicting ones at once', async () => {
    const id = await newOrder();
    const told = await Promise.all(Array.from({ length: 10 }, (_, i) => tell(id, i % 2 === 0 ? completed : failed)));
    const end = (await endOf(database.db, id))?.status;
    const agreed = told.filter((_, i) => (i % 2 === 0) === (end === 'SUCCESS'));
    expect(agreed.map(({ status }) => status)).toEqual([204, 204, 204, 204, 204]);
    expect(told.filter(({ status }) => status === 400)).toHaveLength(5);
    expect(await events(id)).toBe(1);
  });
});

describe('401', () => {
  const refused = { status: 401, body: { error: 'invalid_signature', message: expect.any(String) } };
  const minutes = (count: number) => new Date(Date.now() + count * 60_000);

  it.each<[string, unknown, Post]>([
    ['another secret', completed, { signer: new Webhook(Buffer.alloc(32, 9).toString('base64')) }],
    ['another body than was signed', failed, { sent: JSON.stringify(completed) }],
    ['a body written anew', completed, { sent: JSON.stringify(completed, null, 1) }],
    ['a time more than five minutes ago', completed, { at: minutes(-6) }],
    ['a time more than five minutes ahead', completed, { at: minutes(6) }],
    ['the signature of another order', completed, { id: 'txn_other' }],
    ['no id', completed, { headers: { 'webhook-id': '' } }],
    ['no time', completed, { headers: { 'webhook-timestamp': '' } }],
    ['no signature', completed, { headers: { 'webhook-signature': '' } }],
    ['a signature of another version', completed, { headers: { 'webhook-signature': 'v2,AAAA' } }],
  ])('for %s, and the order is untouched', async (_, result, options) => {
    const id = await newOrder();
    expect(await tell(id, result, options)).toEqual(refused);
    expect(await endOf(database.db, id)).toMatchObject({ status: 'PROCESSING' });
  });

  it('for an unknown order as for a known one, without a valid signature', async () => {
    const signer = new Webhook(Buffer.alloc(32, 9).toString('base64'));
    const known = await tell(await newOrder(), completed, { signer });
    expect(await tell('txn_unknown', completed, { signer })).toEqual(known);
  });
});

describe('404', () => {
  const missing = { status: 404, body: { error: 'purchase_not_found', message: expect.any(String) } };

  it('for an order that does not exist', async () => {
    expect(await tell('txn_unknown', completed)).toEqual(missing);
  });

  it('for a purchase whose provider was never called', async () => {
    const id = await storePurchase(database.db, { status: 'PROCESSING', environment: 'production', isOrdered: false });
    expect(await tell(id, completed)).toEqual(missing);
    expect(await endOf(database.db, id)).toMatchObject({ status: 'PROCESSING' });
  });

  it('for an order of the other environment: its secret is good for its own orders alone', async () => {
    const id = await storePurchase(database.db, { status: 'PROCESSING', environment: 'production' });
    expect(await tell(id, completed, { signer: signers.development })).toEqual(missing);
    expect(await endOf(database.db, id)).toMatchObject({ status: 'PROCESSING' });
    const own = await storePurchase(database.db, { status: 'PROCESSING', environment: 'development' });
    expect((await tell(own, completed, { signer: signers.development })).status).toBe(204);
  });
});

describe('400', () => {
  it.each([
    {},
    '',
    'OK',
    { status: 'unknown' },
    { status: 'completed' },
    { status: 'failed' },
    { status: 'completed', fileNumber: 'x'.repeat(256) },
    // What we send ourselves, sent back to us.
    { orderId: 'txn_1', reference: '1' },
  ])('for a signed body that is no result: %j', async (body) => {
    const id = await newOrder();
    expect(await tell(id, body)).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
    expect(await endOf(database.db, id)).toMatchObject({ status: 'PROCESSING' });
  });

  it('for a body of more than 64 KiB', async () => {
    const id = await newOrder();
    const { status, body } = await tell(id, { ...completed, filler: 'x'.repeat(64 * 1024) });
    expect([status, body.message]).toEqual([400, 'The body is larger than 64 KiB.']);
  });

  it('for a body that is not JSON by its type', async () => {
    const id = await newOrder();
    expect((await tell(id, completed, { headers: { 'content-type': 'text/plain' } })).status).toBe(400);
  });
});
