import { randomUUID } from 'node:crypto';
import { endpoints } from '@svc/protocol';
import { createSvc, solveProof } from '@svc/sdk';
import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findBrokenInvariants } from '../../packages/server/testing/ledger.ts';
import { giftBody } from '../support/app.ts';
import { expectAnswer, expectError } from '../support/assertions.ts';
import { caller, type Reply, type Send, send } from '../support/client.ts';
import { Sandbox } from '../support/sandbox.ts';
import type { RunningServer } from '../support/server.ts';
import { TestService } from '../support/service.ts';

const LIMITS = { TRUST_PROXY: '1', CLAIM_LIMIT_PER_MINUTE: '100', UNKNOWN_CODES_PER_MINUTE: '10' };

let service: TestService;
let first: RunningServer;
let second: RunningServer;
let sandbox: Sandbox;
let clients = 0;

beforeAll(async () => {
  service = await TestService.hosted(LIMITS);
  first = service.server;
  sandbox = new Sandbox(first);
  second = await service.anotherHosted({ SVC_ROLE: 'api' });
});
afterAll(() => service.stop());

/** While no node answers, no redeem is paid. */
const UNAVAILABLE = { kind: 'unavailable', seconds: 60 };
const clearFaults = () => sandbox.ask('/starknet/faults', undefined, 'DELETE');

const newClient = () => `198.51.100.${clients++}`;
const newWallet = () => `0x${randomUUID().replaceAll('-', '')}`;

function ask(
  path: string,
  { client = newClient(), at = first, ...options }: Send & { client?: string; at?: RunningServer } = {},
) {
  const headers = { 'x-forwarded-for': client, ...options.headers };
  return send(`${at.credentials.baseUrl}/gifts/claim/${path}`, { ...options, headers });
}

async function newGift(changes: object = {}): Promise<{ id: string; code: string }> {
  const reply = await caller(first)('/gifts', { method: 'POST', body: giftBody(changes) });
  expect(reply.status).toBe(201);
  return reply.body as { id: string; code: string };
}

const redeem = (code: string, walletAddress: string, options: Parameters<typeof ask>[1] = {}) =>
  ask(`${code}/redeem`, { method: 'POST', body: { walletAddress, chain: 'starknet' }, ...options });

const giftRedeemOf = ({ body }: Reply) => (body as { giftRedeem: Record<string, string> }).giftRedeem;
const redeemsOf = (giftId: string) =>
  service.database.db.rows<{ id: string }>(sql`select id from gift_redeems where gift_id = ${giftId}`);

describe('a gift code', () => {
  it('turns into USDC on Starknet: seen, redeemed, paid, followed', async () => {
    const { code } = await newGift({ amount: 1.5 });
    const claim = await ask(code.toUpperCase());
    expectAnswer(claim, endpoints.claimGift);
    expect(claim.body).toMatchObject({ valid: true, gift: { code, amount: '1.5', token: 'USDC', chain: 'STARKNET' } });
    const wallet = newWallet();
    const reply = await redeem(code, wallet);
    expectAnswer(reply, endpoints.redeemGift);
    expect(giftRedeemOf(reply)).toMatchObject({ status: 'SUCCESS', walletAddress: wallet, amount: '1.5' });
    const { id, transactionHash } = giftRedeemOf(reply);
    const status = await ask(`${code}/status/${id}`);
    expectAnswer(status, endpoints.getRedeemStatus);
    expect(status.body).toMatchObject({ status: 'SUCCESS', receiveChainTxHash: transactionHash, amount: 1.5 });
    const balance = await caller(first)(
      `/svc-wallets/token-balance?chainToken=USDC&chain=STARKNET&walletPublicKey=${wallet}`,
    );
    expect(balance.body).toMatchObject({ balance: '1500000' });
    expect((await ask(code)).body).toMatchObject({ valid: false, reason: 'Gift redemption limit reached' });
    expect(await findBrokenInvariants(service.database.db)).toEqual([]);
  });
});

describe('a guessed code', () => {
  it('is answered with the same bytes and headers whether it never was, was deleted or cannot be', async () => {
    const { id, code } = await newGift();
    await caller(first)(`/gifts/${id}`, { method: 'DELETE' });
    const codes = ['NO-SUCH-CODE', code, 'x', 'a'.repeat(128), '%C3%B1', '%F0%9F%8E%81'];
    const shown = async (path: (guess: string) => string, options: Send) =>
      Promise.all(
        codes.map(async (guess) => {
          const { status, text, headers } = await ask(path(guess), options);
          return { status, text, names: [...headers.keys()] };
        }),
      );
    const body = { walletAddress: '0x1', chain: 'starknet' };
    const ways = [
      await shown((guess) => guess, {}),
      await shown((guess) => `${guess}/redeem`, { method: 'POST', body }),
      await shown((guess) => `${guess}/status/rdm_1`, {}),
    ];
    expect(ways.map(([one]) => one?.status)).toEqual([200, 400, 404]);
    for (const answers of ways) expect(new Set(answers.map((one) => JSON.stringify(one))).size).toBe(1);
  });

  it('is refused after ten others, at every process, and so is a good one', async () => {
    const [{ code }, client] = [await newGift(), newClient()];
    for (let i = 0; i < 10; i++) {
      expect((await ask(`GUESS-${i}`, { client, at: i % 2 === 0 ? first : second })).status).toBe(200);
    }
    for (const at of [first, second]) {
      const reply = await ask(code, { client, at });
      expectError(reply, 429, 'rate_limited');
      expect(Number(reply.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(Number(reply.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    }
    expect((await ask(code)).body).toMatchObject({ valid: true });
  });

  it('is not forgiven to a client that makes up addresses', async () => {
    const [{ code }, client] = [await newGift(), newClient()];
    for (let i = 0; i < 10; i++) await ask(`GUESS-${i}`, { client: `10.0.0.${i}, ${client}` });
    expectError(await ask(code, { client: `10.0.0.99, ${client}` }), 429, 'rate_limited');
    expectError(await ask(code, { client }), 429, 'rate_limited');
  });
});

describe('while too many unknown codes are looked up', () => {
  let guessed: RunningServer;
  const proofOf = async () => {
    const { body } = await send(`${guessed.credentials.baseUrl}/gifts/claim-challenge`);
    return solveProof(body as Parameters<typeof solveProof>[0]);
  };
  beforeAll(async () => {
    guessed = await service.anotherHosted({ SVC_ROLE: 'api', UNKNOWN_CODES_TOTAL_PER_MINUTE: '1' });
  });

  it('a look-up needs a proof of work, valid once at every process', async () => {
    const { code } = await newGift();
    await ask('NO-SUCH-CODE');
    const refusal = await ask(code, { at: guessed });
    expectError(refusal, 429, 'proof_of_work_required');
    expect(Number(refusal.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    const headers = { 'x-svc-proof': await proofOf() };
    expect((await ask(code, { at: guessed, headers })).body).toMatchObject({ valid: true });
    expectError(await ask(code, { at: guessed, headers }), 400, 'invalid_proof_of_work');
    expect((await ask(code)).body).toMatchObject({ valid: true });
  });

  it('the client library claims and redeems all the same', async () => {
    const [{ code }, wallet] = [await newGift(), newWallet()];
    await ask('NO-SUCH-CODE');
    const { baseUrl, publicKey } = guessed.credentials;
    const svc = createSvc({ baseUrl, publicKey });
    expect(await svc.gifts.claimGift({ code })).toMatchObject({ valid: true });
    const { giftRedeem } = await svc.gifts.redeemGift({ code, walletAddress: wallet, chain: 'starknet' });
    expect(giftRedeem).toMatchObject({ status: 'SUCCESS', walletAddress: wallet });
    const { id: redeemId } = giftRedeem;
    expect(await svc.gifts.getRedeemStatus({ code, redeemId })).toMatchObject({ status: 'SUCCESS' });
  });
});

describe('a redeem whose process ends while it waits', () => {
  it('is answered as PENDING at once when the process is told to stop, and can be followed', async () => {
    const leaving = await service.another({ SVC_ROLE: 'api' });
    const { id, code } = await newGift();
    await sandbox.orderFault(UNAVAILABLE);
    const waiting = redeem(code, newWallet(), { at: leaving });
    await expect.poll(async () => (await redeemsOf(id)).length).toBe(1);
    const stopped = leaving.end('SIGTERM');
    const reply = await waiting;
    expect([reply.status, await stopped]).toEqual([201, 0]);
    const redeemed = giftRedeemOf(reply);
    expect(redeemed.status).toBe('PENDING');
    await clearFaults();
    await expect
      .poll(async () => (await ask(`${code}/status/${redeemed.id}`)).body, { timeout: 20_000 })
      .toMatchObject({ status: 'SUCCESS' });
  });

  it('is made once, if its request has an Idempotency-Key and comes again after the process died', async () => {
    const dying = await service.another({ SVC_ROLE: 'api' });
    const { id, code } = await newGift({ maxRedeems: 5, maxRedeemsPerUser: 5 });
    const [wallet, headers] = [newWallet(), { 'idempotency-key': randomUUID() }];
    await sandbox.orderFault(UNAVAILABLE);
    const lost = redeem(code, wallet, { at: dying, headers }).then(
      () => 'answered',
      () => 'lost',
    );
    await expect.poll(async () => (await redeemsOf(id)).length).toBe(1);
    await dying.end('SIGKILL');
    expect(await lost).toBe('lost');
    await clearFaults();
    // In place of waiting for the first request's claim to expire.
    await service.database.db.run(sql`update idempotency_keys set leased_until = now() - interval '1 second'`);
    const replies = [await redeem(code, wallet, { headers }), await redeem(code, wallet, { headers })];
    const [made, ...others] = await redeemsOf(id);
    expect(others).toEqual([]);
    for (const reply of replies) expect(giftRedeemOf(reply)).toMatchObject({ id: made?.id, status: 'SUCCESS' });
  });
});
