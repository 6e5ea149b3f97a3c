import { ApiError, endpoints, exampleOf, type Gift } from '@svc/protocol';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sandboxClient } from '../testing/fake-client.ts';
import { type ReceivedRequest, Reply, type SandboxService, startSandboxService } from '../testing/sandbox-service.ts';
import type { Client } from './client/client.ts';
import { claimGift, getRedeemStatus, redeemGift, waitForRedeem } from './gift-claims.ts';
import {
  createGift,
  deleteGift,
  getGift,
  getGiftRedeem,
  getGiftUsage,
  giftRedeems,
  gifts,
  listGiftRedeems,
  listGifts,
  updateGift,
} from './gifts.ts';

const AT = '2026-11-02T18:20:11.000Z';
const STARKNET = '0x01a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f80';
const SOLANA = 'So11111111111111111111111111111111111111112';
const order = {
  code: 'SPRING-2026',
  name: 'Spring',
  amount: '2.50',
  maxRedeems: 10,
  maxRedeemsPerUser: 1,
  startsAt: AT,
  isActive: true,
} as const;
const gift: Gift = {
  ...order,
  id: 'gift_1',
  claimUrl: 'https://svc.example/claim/SPRING-2026',
  amount: '2.5',
  token: 'USDC',
  chain: 'STARKNET',
  type: 'GIFT_CARD',
  totalRedeems: 0,
  expiresAt: null,
  cctpFast: true,
  holdLedgerEntryId: null,
  totalHeldUsd: 25.1,
  totalRedeemedUsd: 0,
  recipientEmail: null,
  campaignName: null,
};
const redeem = {
  id: 'redeem_1',
  giftId: 'gift_1',
  code: order.code,
  status: 'SUCCESS',
  destinationChain: 'starknet',
  walletAddress: STARKNET,
  amount: '2.5',
  transactionHash: '0x1',
  cctpBurnTxHash: null,
  receiveChainTxHash: null,
  receiveProof: null,
  createdAt: AT,
  updatedAt: AT,
};
const state = {
  id: 'redeem_1',
  status: 'BRIDGING',
  destinationChain: 'solana',
  cctpBurnTxHash: '0x2',
  receiveChainTxHash: null,
  receiveProof: null,
  amount: 2.5,
};
const page = <T>(all: readonly T[], { page: number = '1', limit = '10' }: Record<string, string>) => {
  const [at, size] = [Number(number), Number(limit)];
  const data = all.slice((at - 1) * size, at * size);
  return { data, total: all.length, page: at, limit: size, totalPages: Math.ceil(all.length / size) };
};

describe('gift operations', () => {
  const clock = { nowMs: 0 };
  let service: SandboxService;
  let client: Client;
  let statuses: (string | ApiError)[];
  let claim: unknown;
  const last = () => service.received.at(-1) as ReceivedRequest;

  beforeAll(async () => {
    const many = Array.from({ length: 250 }, (_, index) => ({ ...gift, id: `gift_${index}` }));
    service = await startSandboxService({
      createGift: () => gift,
      listGifts: ({ query }) => page(many, query),
      getGiftUsage: () => exampleOf(endpoints.getGiftUsage.answers[200], {}),
      listGiftRedeems: ({ query }) => page([redeem], query),
      getGiftRedeem: ({ params }) => ({ ...redeem, id: params.id }),
      getGift: ({ params }) => ({ ...gift, id: params.id }),
      updateGift: ({ body }) => ({ ...gift, ...(body as object) }),
      deleteGift: () => ({ success: true, releasedUsd: 25.1 }),
      claimGift: () => claim,
      redeemGift: ({ body }) =>
        (body as { chain: string }).chain === 'solana'
          ? new Reply(202, { ...state, redeemId: 'redeem_1', estimatedSeconds: 24 })
          : new Reply(201, { giftRedeem: redeem }),
      getRedeemStatus: () => {
        const status = statuses.shift() ?? 'SUCCESS';
        if (status instanceof ApiError) throw status;
        return { ...state, status };
      },
    });
    client = sandboxClient(service, clock);
  });
  beforeEach(() => {
    statuses = [];
    claim = { valid: false, reason: 'Gift has expired' };
  });
  afterAll(() => service.close());

  it('creates a gift with an exact amount and the given idempotency key', async () => {
    expect(await createGift(client, { ...order, idempotencyKey: 'mine-1' })).toEqual(gift);
    expect(last().body).toEqual({ ...order, amount: 2.5 });
    expect(last().headers['idempotency-key']).toBe('mine-1');
  });

  it('manages gifts with the API keys, and claims without any', async () => {
    await getGift(client, { id: 'gift_7' });
    expect(last().headers).toMatchObject({
      'x-api-key': client.publicKey,
      authorization: `Bearer ${client.secretKey}`,
    });
    await claimGift(client, { code: order.code });
    expect(last().headers).not.toHaveProperty('authorization');
    expect(last().headers).not.toHaveProperty('x-api-key');
  });

  it('reads, changes and deletes a gift', async () => {
    expect(await getGift(client, { id: 'gift_7' })).toMatchObject({ id: 'gift_7' });
    expect(await updateGift(client, { id: 'gift_7', expiresAt: null, isActive: false })).toMatchObject({
      isActive: false,
    });
    expect(last().body).toEqual({ expiresAt: null, isActive: false });
    expect(await deleteGift(client, { id: 'gift_7' })).toEqual({ success: true, releasedUsd: 25.1 });
    expect(await getGiftUsage(client)).toHaveProperty('totalHeldUsd');
  });

  it('refuses a change that changes nothing', async () => {
    await expect(updateGift(client, { id: 'gift_7' })).rejects.toMatchObject({ code: 'invalid_input' });
  });

  it('lists one page of gifts, or iterates over all', async () => {
    expect(await listGifts(client, { isActive: true, page: 2, limit: 20 })).toMatchObject({
      total: 250,
      page: 2,
      limit: 20,
    });
    expect(last().query).toEqual({ isActive: 'true', page: '2', limit: '20' });
    const ids: string[] = [];
    for await (const { id } of gifts(client, { type: 'LOYALTY' })) ids.push(id);
    expect(ids).toEqual(Array.from({ length: 250 }, (_, index) => `gift_${index}`));
    expect(last().query).toEqual({ type: 'LOYALTY', page: '3', limit: '100' });
  });

  it('lists and reads redeems', async () => {
    expect((await listGiftRedeems(client)).items).toEqual([redeem]);
    const codes: string[] = [];
    for await (const { code } of giftRedeems(client)) codes.push(code);
    expect(codes).toEqual([order.code]);
    expect(await getGiftRedeem(client, { id: 'redeem_9' })).toMatchObject({ id: 'redeem_9' });
  });

  it('returns why a code is invalid, without throwing', async () => {
    expect(await claimGift(client, { code: 'old' })).toEqual({ valid: false, reason: 'Gift has expired' });
  });

  it('returns the gift of a valid code', async () => {
    const gift = { code: 'C0DE', name: 'Spring', amount: '2.5', token: 'USDC', chain: 'STARKNET' };
    claim = { valid: true, gift, orgName: 'Acme' };
    expect(await claimGift(client, { code: 'C0DE' })).toEqual({ valid: true, gift, orgName: 'Acme' });
    claim = { valid: true };
    await expect(claimGift(client, { code: 'C0DE' })).rejects.toMatchObject({ code: 'invalid_answer' });
  });

  it('redeems to Starknet and to Solana with the documented answers', async () => {
    const paid = await redeemGift(client, { code: order.code, walletAddress: STARKNET, chain: 'starknet' });
    expect(paid.giftRedeem).toMatchObject({ id: 'redeem_1', transactionHash: '0x1' });
    const started = await redeemGift(client, { code: order.code, walletAddress: SOLANA, chain: 'solana' });
    expect(started).toMatchObject({ redeemId: 'redeem_1', estimatedSeconds: 24 });
  });

  it.each([
    ['solana', STARKNET],
    ['starknet', SOLANA],
    ['starknet', '0x0'],
    ['base', STARKNET],
  ])('refuses to redeem to %s with the address %s, where the money would be lost', async (chain, walletAddress) => {
    const sent = service.received.length;
    const redeem = redeemGift(client, { code: order.code, walletAddress, chain: chain as 'solana' });
    await expect(redeem).rejects.toMatchObject({ code: 'invalid_input' });
    expect(service.received).toHaveLength(sent);
  });

  it('waits through every step of the bridge and errors of the service', async () => {
    statuses = [
      'PENDING',
      new ApiError('internal_error'),
      'BRIDGING',
      new ApiError('rate_limited'),
      'ATTESTED',
      'SUCCESS',
    ];
    const before = clock.nowMs;
    expect(await waitForRedeem(client, { code: order.code, redeemId: 'redeem_1' })).toMatchObject({
      status: 'SUCCESS',
    });
    expect(clock.nowMs - before).toBe(15_000);
  });

  it('returns a failed redeem instead of throwing', async () => {
    statuses = ['BRIDGING', 'FAILED'];
    const ended = await waitForRedeem(client, { code: order.code, redeemId: 'redeem_1' });
    expect(ended).toMatchObject({ status: 'FAILED', cctpBurnTxHash: '0x2' });
  });

  it('stops waiting at its timeout with a message that the redeem continues', async () => {
    statuses = Array.from({ length: 200 }, () => 'BRIDGING');
    const waiting = waitForRedeem(client, { code: order.code, redeemId: 'redeem_1', timeoutMs: 10_000 });
    await expect(waiting).rejects.toMatchObject({ name: 'SvcConnectionError', code: 'timeout' });
    expect(statuses.length).toBe(195);
  });

  it('throws at once for an unknown redeem', async () => {
    statuses = [new ApiError('redeem_not_found')];
    const params = { code: order.code, redeemId: 'unknown' };
    await expect(waitForRedeem(client, params)).rejects.toMatchObject({ code: 'redeem_not_found', status: 404 });
    expect(await getRedeemStatus(client, params)).toMatchObject({ status: 'SUCCESS' });
  });

  it('stops waiting when aborted', async () => {
    statuses = ['BRIDGING', 'BRIDGING'];
    const signal = AbortSignal.abort(new Error('the page was left'));
    const waiting = waitForRedeem(client, { code: order.code, redeemId: 'redeem_1', signal });
    await expect(waiting).rejects.toThrow('the page was left');
  });
});
