import { sql } from '@svc/store';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { at, claimApp, claimDeps, codeLookup, NOW, putStatus, SOLANA_WALLET, useGifts } from '../../testing/gifts.ts';
import { endRedeems, RedeemWaiters } from './redeem.ts';

const fixture = useGifts();
let app: FastifyInstance;
/** A process with the limits of a deployment. */
let strict: FastifyInstance;
let clients = 0;

beforeAll(async () => {
  const waiters = new RedeemWaiters();
  waiters.stop();
  app = await claimApp(claimDeps(fixture.db, { waiters }));
  const codes = codeLookup(fixture.db, { perClient: 10, total: 1_000 });
  strict = await claimApp(claimDeps(fixture.db, { waiters, codes }), { requests: 100 });
});
afterAll(async () => {
  await app.close();
  await strict.close();
});

const newClient = () => `203.0.113.${clients++}`;
const get = (path: string, client = newClient(), via = app) =>
  via.inject({ method: 'GET', url: `/gifts/claim/${path}`, headers: { 'x-forwarded-for': client } });
const post = (code: string, payload: object, client = newClient(), via = app) =>
  via.inject({
    method: 'POST',
    url: `/gifts/claim/${code}/redeem`,
    headers: { 'x-forwarded-for': client },
    payload,
  });

async function newGift(changes: Parameters<typeof fixture.create>[1] = {}) {
  const caller = await fixture.caller();
  return { caller, gift: await fixture.create(caller, { maxRedeems: 3, ...changes }) };
}

async function newRedeem(chain: 'starknet' | 'solana' = 'starknet') {
  const made = await newGift();
  return { ...made, id: await fixture.redeem(made.caller, made.gift.id, chain) };
}

describe('a claim', () => {
  it('says what a valid code gives, in any case', async () => {
    const { gift } = await newGift({ amount: 0.5 });
    const { code, name } = gift;
    for (const spelling of [code, code.toLowerCase()]) {
      const reply = await get(spelling);
      expect(reply.statusCode).toBe(200);
      expect(reply.json()).toEqual({
        valid: true,
        gift: { code, name, amount: '0.5', token: 'USDC', chain: 'STARKNET' },
        orgName: 'Test',
        startsAt: expect.any(String),
        expiresAt: expect.any(String),
        wallet: { isOffered: true, appUrl: null },
      });
    }
  });

  it('says why a code is not valid', async () => {
    const inactive = await newGift({ isActive: false });
    const coming = await newGift({ startsAt: at(1) });
    const expired = await newGift();
    await fixture.db.run(sql`update gifts set expires_at = ${new Date(NOW)} where id = ${expired.gift.id}`);
    const used = await newGift({ maxRedeems: 1 });
    await fixture.redeem(used.caller, used.gift.id);
    const reasons = await Promise.all(
      [inactive, coming, expired, used].map(async ({ gift }) => (await get(gift.code)).json()),
    );
    const times = { orgName: 'Test', startsAt: expect.any(String), expiresAt: expect.anything() };
    for (const reason of reasons) reason.expiresAt ??= 'never';
    expect(reasons).toEqual([
      { valid: false, ...times, reason: 'Gift is not active' },
      { valid: false, ...times, reason: 'Gift has not started yet' },
      { valid: false, ...times, reason: 'Gift has expired' },
      { valid: false, ...times, reason: 'Gift redemption limit reached' },
    ]);
  });

  it('answers unknown, deleted and malformed codes with the same bytes', async () => {
    const { caller, gift } = await newGift();
    await fixture.delete(caller, gift.id);
    const codes = [
      'NOBODY-HAS-THIS',
      gift.code,
      'x',
      'a'.repeat(128),
      '%C3%B1and%C3%BA',
      '%27%3B--',
      '..%2F..%2Fgifts',
    ];
    const replies = await Promise.all(codes.map((code) => get(code)));
    const shown = replies.map(({ statusCode, body, headers }) => ({ statusCode, body, names: Object.keys(headers) }));
    expect(shown[0]).toMatchObject({ statusCode: 200, body: '{"valid":false,"reason":"Gift not found"}' });
    for (const one of shown) expect(one).toEqual(shown[0]);
    const redeems = await Promise.all(codes.map((code) => post(code, { walletAddress: '0x1', chain: 'starknet' })));
    expect(redeems[0]?.json()).toEqual({ error: 'gift_not_found', message: 'Gift not found' });
    for (const { statusCode, body } of redeems) expect([statusCode, body]).toEqual([400, redeems[0]?.body]);
  });
});

describe('the status of a redeem', () => {
  it('is shown to any holder of its code, in any case', async () => {
    const { gift, id } = await newRedeem();
    const pending = { id, status: 'PENDING', destinationChain: 'starknet', amount: 5 };
    const none = { cctpBurnTxHash: null, receiveChainTxHash: null, receiveProof: null };
    expect((await get(`${gift.code.toLowerCase()}/status/${id}`)).json()).toEqual({ ...pending, ...none });
    await fixture.db.tx((tx) => endRedeems(tx, [{ id, end: 'SUCCESS', transactionHash: '0xfee' }]));
    expect((await get(`${gift.code}/status/${id}`)).json()).toEqual({
      ...pending,
      status: 'SUCCESS',
      cctpBurnTxHash: null,
      receiveChainTxHash: '0xfee',
      receiveProof: null,
    });
  });

  it('shows the burn and the mint on the way to Solana', async () => {
    const { gift, id } = await newRedeem('solana');
    await putStatus(fixture.db, id, 'ATTESTED', '0xb0');
    const shown = async () => (await get(`${gift.code}/status/${id}`)).json();
    expect(await shown()).toMatchObject({ status: 'ATTESTED', cctpBurnTxHash: '0xb0', receiveChainTxHash: null });
    await fixture.db.tx((tx) => endRedeems(tx, [{ id, end: 'SUCCESS', receiveHash: '5sig' }]));
    expect(await shown()).toMatchObject({ status: 'SUCCESS', cctpBurnTxHash: '0xb0', receiveChainTxHash: '5sig' });
  });

  it('stays readable after its gift was deleted', async () => {
    const { caller, gift, id } = await newRedeem();
    await fixture.delete(caller, gift.id);
    expect((await get(`${gift.code}/status/${id}`)).json()).toMatchObject({ id, status: 'PENDING' });
  });

  it('is the same 404 for another code, an unknown code and an unknown redeem', async () => {
    const { gift, id } = await newRedeem();
    const { gift: other } = await newGift();
    const paths = [
      `${other.code}/status/${id}`,
      `NOBODY-HAS-THIS/status/${id}`,
      `${gift.code}/status/rdm_1`,
      `x/status/${id}`,
    ];
    const replies = await Promise.all(paths.map((path) => get(path)));
    expect(replies[0]?.json()).toMatchObject({ error: 'redeem_not_found' });
    for (const { statusCode, body } of replies) expect([statusCode, body]).toEqual([404, replies[0]?.body]);
  });
});

describe('a client', () => {
  const unknown = (client: string, via = strict) => [
    () => get('NOBODY-HAS-THIS', client, via),
    () => post('NOBODY-HAS-THIS', { walletAddress: '0x1', chain: 'starknet' }, client, via),
    () => get('NOBODY-HAS-THIS/status/rdm_1', client, via),
  ];

  it('that tried ten unknown codes is refused for any code, with the time to wait', async () => {
    const { gift } = await newGift();
    const client = newClient();
    const ways = unknown(client);
    for (let i = 0; i < 10; i++) expect((await ways[i % 3]?.())?.statusCode).toBeLessThan(429);
    const last = [await get(gift.code, client, strict), ...(await Promise.all(ways.map((way) => way())))];
    for (const reply of last) {
      expect([reply.statusCode, reply.json().error]).toEqual([429, 'rate_limited']);
      expect(Number(reply.headers['retry-after'])).toBeGreaterThanOrEqual(1);
      expect(Number(reply.headers['retry-after'])).toBeLessThanOrEqual(60);
    }
    expect((await get(gift.code, newClient(), strict)).json()).toMatchObject({ valid: true });
  });

  it('gets the same answer for known and unknown codes once it is refused', async () => {
    const { gift } = await newGift();
    const client = newClient();
    for (let i = 0; i < 10; i++) await get('NOBODY-HAS-THIS', client, strict);
    const [known, other] = [await get(gift.code, client, strict), await get('NOBODY-HAS-THIS', client, strict)];
    expect([known.statusCode, known.body]).toEqual([other.statusCode, other.body]);
  });

  it('of one IPv6 network is one client', async () => {
    const address = (host: string) => `2001:db8:77:${(++clients).toString(16)}::${host}`;
    const network = address('').slice(0, -2);
    for (let i = 0; i < 10; i++) await get('NOBODY-HAS-THIS', `${network}::${i + 1}`, strict);
    expect((await get('NOBODY-HAS-THIS', `${network}:a:b:c:d`, strict)).statusCode).toBe(429);
  });

  it('has a hundred requests a minute over all three endpoints, and sees what remains', async () => {
    const { gift, id } = await newRedeem();
    const client = newClient();
    const ways = [
      () => get(gift.code, client, strict),
      () => get(`${gift.code}/status/${id}`, client, strict),
      () => post(gift.code, { nothing: 'of use' }, client, strict),
    ];
    const first = await ways[0]?.();
    expect(first?.headers).toMatchObject({ 'ratelimit-limit': '100', 'ratelimit-remaining': '99' });
    for (let i = 1; i < 100; i++) expect((await ways[i % 3]?.())?.statusCode).toBeLessThan(429);
    for (const way of ways) {
      const refused = await way();
      expect([refused.statusCode, refused.json().error]).toEqual([429, 'rate_limited']);
      expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    }
  });
});

describe('an Idempotency-Key without credentials', () => {
  const keyed = (code: string, payload: object) =>
    app.inject({
      method: 'POST',
      url: `/gifts/claim/${code}/redeem`,
      headers: { 'idempotency-key': 'same', 'x-forwarded-for': newClient() },
      payload,
    });

  it('answers the same redeem again, and belongs to its code', async () => {
    const [one, other] = [await newGift({ maxRedeemsPerUser: 3 }), await newGift({ maxRedeemsPerUser: 3 })];
    const body = { walletAddress: '0x1', chain: 'starknet' };
    const [first, again] = [await keyed(one.gift.code, body), await keyed(one.gift.code, body)];
    expect(first.statusCode).toBe(201);
    expect([again.body, again.headers['idempotency-replayed']]).toEqual([first.body, 'true']);
    const elsewhere = await keyed(other.gift.code, body);
    expect(elsewhere.headers['idempotency-replayed']).toBeUndefined();
    expect(elsewhere.json().giftRedeem.id).not.toBe(first.json().giftRedeem.id);
  });

  it('does not show the redeem of one wallet to another', async () => {
    const { gift } = await newGift();
    await keyed(gift.code, { walletAddress: '0x1', chain: 'starknet' });
    const other = await keyed(gift.code, { walletAddress: SOLANA_WALLET, chain: 'solana' });
    expect([other.statusCode, other.json().error]).toEqual([400, 'idempotency_key_reused']);
  });
});
