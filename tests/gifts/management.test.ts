import { randomBytes } from 'node:crypto';
import { endpoints } from '@svc/protocol';
import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { giftBody, newCode } from '../support/app.ts';
import { expectAnswer, expectError } from '../support/assertions.ts';
import { caller, type Reply, send } from '../support/client.ts';
import { runSoon } from '../support/jobs.ts';
import { type AnyService, TestService } from '../support/service.ts';

let service: AnyService;
let call: ReturnType<typeof caller>;
beforeAll(async () => {
  service = await TestService.shared();
  call = caller(service.server);
});
afterAll(() => service.stop());

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  call(path, { method: 'POST', body, headers });
const create = (changes: object = {}) => post('/gifts', giftBody(changes));
/** Random, with all kinds of characters that a code may have. */
const codeOf = (length: number) => `_-${randomBytes(length).toString('base64url').slice(2, length)}`;
const OTHER_ZONE = { startsAt: '2026-12-01T00:00:00-06:00', expiresAt: '2126-12-01T00:00:00+14:00' };
const bodyOf = <T>({ body }: Reply): T => body as T;
/** What a refusal must not change. */
async function state(): Promise<unknown> {
  const replies = await Promise.all(['/organization', '/gifts?limit=1', '/gifts/usage'].map((path) => call(path)));
  return replies.map(({ text }) => text);
}

describe('a gift that is made', () => {
  it('is read, listed, changed and deleted, and its credits come back', async () => {
    const before = bodyOf<{ balance: object }>(await call('/organization')).balance;
    const made = await create({ amount: 2.5, maxRedeems: 4, startsAt: '2026-12-01', expiresAt: '2126-12-01' });
    expectAnswer(made, endpoints.createGift);
    const gift = bodyOf<{ id: string; code: string; totalHeldUsd: number }>(made);
    expect(gift).toMatchObject({ amount: '2.5', totalHeldUsd: 10.04, startsAt: '2026-12-01T00:00:00.000Z' });
    const read = await call(`/gifts/${gift.id}`);
    expect(read.body).toEqual(gift);
    expect(bodyOf<{ data: unknown[] }>(await call('/gifts?limit=1')).data).toEqual([gift]);
    const changed = await call(`/gifts/${gift.id}`, { method: 'PATCH', body: { isActive: false, expiresAt: null } });
    expectAnswer(changed, endpoints.updateGift);
    expect(changed.body).toEqual({ ...gift, isActive: false, expiresAt: null });
    const deleted = await call(`/gifts/${gift.id}`, { method: 'DELETE' });
    expectAnswer(deleted, endpoints.deleteGift);
    expect(deleted.body).toEqual({ success: true, releasedUsd: 10.04 });
    expectError(await call(`/gifts/${gift.id}`), 404, 'gift_not_found');
    expect(bodyOf<{ balance: object }>(await call('/organization')).balance).toEqual(before);
  });

  it('without a code gets a random one, with the link to claim it', async () => {
    const made = await post('/gifts', { ...giftBody(), code: undefined });
    expectAnswer(made, endpoints.createGift);
    const { code, claimUrl } = bodyOf<{ code: string; claimUrl: string }>(made);
    expect(code).toMatch(/^[A-Z0-9]{8,}$/);
    expect(claimUrl).toBe(`${service.server.origin}/claim/${code}`);
    const other = bodyOf<{ code: string }>(await post('/gifts', { ...giftBody(), code: undefined }));
    expect(other.code).not.toBe(code);
  });

  it('in another currency than dollars is refused, one by one and in bulk', async () => {
    const before = await state();
    const bulk = { name: 'Navidad', amount: 1, recipients: [{ email: 'ana@example.com' }] };
    for (const reply of [await create({ currency: 'MXN' }), await post('/gifts/bulk', { ...bulk, currency: 'MXN' })]) {
      expectError(reply, 400, 'invalid_request');
      expect(bodyOf<{ message: string }>(reply).message).toBe('body.currency must be one of USD.');
    }
    expect(await state()).toEqual(before);
    const dollars = await create({ currency: 'USD' });
    expect([dollars.status, dollars.headers.has('x-svc-ignored-fields')]).toEqual([201, false]);
  });

  it.each([
    ['the shortest code', () => ({ code: codeOf(4) })],
    ['the longest code', () => ({ code: codeOf(64) })],
    ['the smallest amount', () => ({ amount: 0.000001 })],
    ['the largest amount of redeems', () => ({ amount: 0.000001, maxRedeems: 100_000, maxRedeemsPerUser: 100_000 })],
    ['a date-time of another zone', () => OTHER_ZONE],
  ])('can have %s', async (_, changes) => {
    expectAnswer(await create(changes()), endpoints.createGift);
  });

  it('is made once for one Idempotency-Key', async () => {
    const body = giftBody({ amount: 1 });
    const headers = { 'idempotency-key': newCode() };
    const [first, second] = [await post('/gifts', body, headers), await post('/gifts', body, headers)];
    expect([first.status, second.text]).toEqual([201, first.text]);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
  });
});

describe('what is out of bounds is refused by its name, and stores nothing', () => {
  it.each([
    ['code', 'abc'],
    ['code', 'x'.repeat(65)],
    ['code', 'with space'],
    ['code', 'ñandú'],
    ['name', ''],
    ['name', 'x'.repeat(201)],
    ['amount', 0],
    ['amount', -1],
    ['amount', 10_000.000001],
    ['amount', 0.1234567],
    ['amount', '5'],
    ['token', 'USDT'],
    ['chain', 'BASE'],
    ['type', 'OTHER'],
    ['maxRedeems', 0],
    ['maxRedeems', 1.5],
    ['maxRedeems', 1_000_001],
    ['maxRedeemsPerUser', 0],
    ['maxRedeemsPerUser', 2],
    ['startsAt', 'tomorrow'],
    ['startsAt', '2026-12-01T00:00:00'],
    ['startsAt', '2026-02-30'],
    ['expiresAt', '2025-12-31'],
    ['expiresAt', '2026-01-02'],
    ['isActive', 'yes'],
    ['cctpFast', 1],
  ])('%s: %s', async (field, value) => {
    const before = await state();
    const reply = await create({ [field]: value });
    expectError(reply, 400, 'invalid_request');
    expect(reply.text).toContain(`body.${field} `);
    expect(await state()).toEqual(before);
  });

  it.each([
    ['no recipients', [], 'body.recipients'],
    ['501 recipients', Array.from({ length: 501 }, () => ({ email: 'ana@example.com' })), 'body.recipients'],
    ['no address', [{ email: 'ana' }], 'body.recipients[0].email'],
    [
      'a short code',
      [{ email: 'ana@example.com' }, { email: 'eva@example.com', code: 'x' }],
      'body.recipients[1].code',
    ],
  ])('in bulk: %s', async (_, recipients, field) => {
    const before = await state();
    const reply = await post('/gifts/bulk', { name: 'Navidad', amount: 1, recipients });
    expectError(reply, 400, 'invalid_request');
    expect(reply.text).toContain(field);
    expect(await state()).toEqual(before);
  });
});

describe('gifts in bulk', () => {
  it('are made with links to the public address', async () => {
    const [code, name] = [newCode(), newCode()];
    const recipients = [{ email: 'ana@example.com' }, { email: 'eva@example.com', code }];
    const reply = await post('/gifts/bulk', { name, amount: 1, cctpFast: false, recipients });
    expectAnswer(reply, endpoints.createGiftsBulk);
    expect(reply.status).toBe(201);
    const { gifts } = bodyOf<{ gifts: { code: string; claimUrl: string }[] }>(reply);
    expect(reply.body).toMatchObject({ created: 2, campaignName: name, totalHeldUsd: 2.02 });
    expect(gifts.map(({ claimUrl }) => claimUrl)).toEqual(
      gifts.map((gift) => `${service.server.origin}/claim/${gift.code}`),
    );
    expect(gifts[1]).toMatchObject({ code, email: 'eva@example.com' });
    expect(await call(`/gifts?campaignName=${name}&isActive=true&type=GIFT_CARD`)).toMatchObject({
      body: { total: 2 },
    });
  });

  it('are all made or none, on two processes at once', async () => {
    const second = caller(await service.anotherHosted());
    const codes = Array.from({ length: 50 }, () => ({ email: 'ana@example.com', code: newCode() }));
    const name = newCode();
    const body = (recipients: object[]) => ({ name, amount: 0.01, cctpFast: false, recipients });
    const replies = await Promise.all([
      call('/gifts/bulk', { method: 'POST', body: body(codes) }),
      second('/gifts/bulk', { method: 'POST', body: body(codes.toReversed()) }),
    ]);
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 400]);
    expect(await call(`/gifts?campaignName=${name}`)).toMatchObject({ body: { total: 50 } });
  });
});

it('gifts of an organisation are hidden from every other one', async () => {
  const { id } = bodyOf<{ id: string }>(await create());
  const keys = (await service.organization({ name: 'Otra' })).keys;
  const ask = (path: string, method: string, body?: unknown) =>
    send(service.server.credentials.baseUrl + path, { method, headers: keys.headers, ...(body ? { body } : {}) });
  for (const [method, body] of [['GET'], ['PATCH', { isActive: false }], ['DELETE']] as const) {
    const [theirs, missing] = [await ask(`/gifts/${id}`, method, body), await ask('/gifts/gift_none', method, body)];
    expect([theirs.status, theirs.text]).toEqual([404, missing.text]);
  }
  expect((await ask('/gifts', 'GET')).body).toMatchObject({ data: [], total: 0 });
});

it('an expired gift gives its credits back by itself', async () => {
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  const { id } = bodyOf<{ id: string }>(await create({ startsAt: '2026-01-01', expiresAt }));
  expect((await call(`/gifts/${id}`)).body).toMatchObject({ holdLedgerEntryId: expect.any(String) });
  await service.db.run(sql`update gifts set expires_at = now() where id = ${id}`);
  await runSoon(service.db, 'release-expired-gifts');
  await expect
    .poll(async () => (await call(`/gifts/${id}`)).body, { timeout: 120_000, interval: 250 })
    .toMatchObject({ holdLedgerEntryId: null, totalHeldUsd: null });
}, 180_000);
