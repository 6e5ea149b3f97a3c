import { sql } from '@svc/store';
import { describe, expect, it } from 'vitest';
import {
  at,
  BRIDGE,
  claimDeps,
  DOLLAR,
  GAS,
  NOW,
  payMeanwhile,
  putStatus,
  SOLANA_WALLET,
  useGifts,
} from '../../testing/gifts.ts';
import { findBrokenInvariants } from '../../testing/ledger.ts';
import type { Caller } from '../http/call.ts';
import { redeemGift } from './claim.ts';
import { RedeemWaiters } from './redeem.ts';

const fixture = useGifts();
const WALLET = '0xA1';
type Deps = Parameters<typeof redeemGift>[0];

interface RedeemOptions {
  readonly chain?: 'starknet' | 'solana';
  readonly walletAddress?: string;
  readonly requestKey?: string;
}

/** Answers at once with what is known, as a process does that stops. */
function notWaiting(): Deps {
  const waiters = new RedeemWaiters();
  waiters.stop();
  return claimDeps(fixture.db, { waiters });
}

const redeem = (code: string, { requestKey, ...body }: RedeemOptions = {}, deps = notWaiting()) =>
  redeemGift(deps, {
    client: '203.0.113.7',
    params: { code },
    body: { chain: 'starknet', walletAddress: WALLET, ...body },
    requestKey,
  }) as Promise<unknown> as Promise<{ status: number; body: Record<string, unknown> }>;

const redeemsOf = (giftId: string) =>
  fixture.db.rows<Record<string, unknown>>(sql`
    select id, status, address, shown_address, share_micros, amount_micros, request_key, hold_id from gift_redeems
     where gift_id = ${giftId} order by created_at, id`);

const jobs = () => fixture.db.rows(sql`select task, key, queue, payload from jobs order by id desc`);

async function newGift(
  changes: Parameters<typeof fixture.create>[1] = {},
): Promise<{ caller: Caller; code: string; id: string }> {
  const caller = await fixture.caller();
  const gift = await fixture.create(caller, { maxRedeems: 3, maxRedeemsPerUser: 2, ...changes });
  return { caller, code: gift.code, id: gift.id };
}

describe('a redeem on Starknet', () => {
  it('reserves a share, has it paid out and answers when it is paid', async () => {
    const { caller, code, id } = await newGift();
    const { status, body } = await payMeanwhile(fixture.db, redeem(code.toLowerCase(), {}, claimDeps(fixture.db)));
    expect(status).toBe(201);
    expect(body.giftRedeem).toEqual({
      id: expect.stringMatching(/^rdm_/),
      status: 'SUCCESS',
      transactionHash: expect.stringMatching(/^0x/),
      walletAddress: WALLET,
      amount: '5',
    });
    expect(await redeemsOf(id)).toMatchObject([
      { address: `0x${'a1'.padStart(64, '0')}`, shown_address: WALLET, share_micros: 5n * DOLLAR + GAS },
    ]);
    await expect.poll(jobs).toContainEqual({
      task: 'payout-development',
      key: expect.stringMatching(/^development [0-7]$/),
      queue: 'payout-development',
      payload: { environment: 'development' },
    });
    expect(await fixture.balance(caller)).toMatchObject({ total: 1_000n * DOLLAR - 5n * DOLLAR - GAS });
  });

  it('that is not final yet is answered as PENDING', async () => {
    const { code } = await newGift();
    expect(await redeem(code)).toMatchObject({
      status: 201,
      body: { giftRedeem: { status: 'PENDING', transactionHash: null } },
    });
  });

  it('whose payout fails is refused, and its place and share are free again', async () => {
    const { caller, code, id } = await newGift({ maxRedeems: 1, maxRedeemsPerUser: 1 });
    const before = await fixture.balance(caller);
    const failing = payMeanwhile(fixture.db, redeem(code, {}, claimDeps(fixture.db)), () => 'FAILED');
    await expect(failing).rejects.toMatchObject({ code: 'payout_failed', status: 500 });
    expect(await fixture.balance(caller)).toEqual(before);
    expect(await redeem(code)).toMatchObject({ status: 201 });
    expect(await redeemsOf(id)).toMatchObject([{ status: 'FAILED' }, { status: 'PENDING' }]);
  });
});

describe('a redeem to Solana', () => {
  const toSolana = { chain: 'solana', walletAddress: SOLANA_WALLET } as const;

  it.each([
    { cctpFast: true, estimatedSeconds: 24, share: 5n * DOLLAR + GAS + BRIDGE },
    { cctpFast: false, estimatedSeconds: 28_800, share: 5n * DOLLAR + GAS },
  ])(
    'reserves what the bridge may cost and says how long it takes: %o',
    async ({ cctpFast, estimatedSeconds, share }) => {
      const { code, id } = await newGift({ cctpFast });
      expect(await redeem(code, toSolana)).toEqual({
        status: 202,
        body: {
          redeemId: expect.stringMatching(/^rdm_/),
          status: 'PENDING',
          destinationChain: 'solana',
          cctpBurnTxHash: null,
          estimatedSeconds,
        },
      });
      const [row] = await redeemsOf(id);
      expect(row).toMatchObject({ address: SOLANA_WALLET, share_micros: share });
      expect(await jobs()).toContainEqual({
        task: 'bridge-redeem',
        key: row?.id,
        queue: null,
        payload: { redeemId: row?.id },
      });
    },
  );

  it('is answered with its burn as soon as that has a hash', async () => {
    const { code, id } = await newGift();
    const answer = redeem(code, toSolana, claimDeps(fixture.db));
    let rows: Record<string, unknown>[] = [];
    while (rows.length === 0) rows = await redeemsOf(id);
    await putStatus(fixture.db, String(rows[0]?.id), 'BRIDGING', '0xb0');
    expect((await answer).body).toMatchObject({ status: 'BRIDGING', cctpBurnTxHash: '0xb0' });
  });

  it('that fails before its burn is refused', async () => {
    const { code } = await newGift();
    const failing = payMeanwhile(fixture.db, redeem(code, toSolana, claimDeps(fixture.db)), () => 'FAILED');
    await expect(failing).rejects.toMatchObject({ code: 'payout_failed' });
  });
});

describe('a code that cannot be redeemed', () => {
  const past = { startsAt: at(-2), expiresAt: at(-1) };
  it.each([
    ['gift_inactive', { isActive: false }],
    ['gift_not_started', { startsAt: at(1) }],
    ['gift_expired', past],
  ] as const)('is refused: %s', async (code, changes) => {
    const gift = await newGift(changes === past ? {} : changes);
    if (changes === past)
      await fixture.db.run(sql`update gifts set expires_at = ${new Date(NOW)} where id = ${gift.id}`);
    const before = await fixture.everything(gift.caller);
    await expect(redeem(gift.code)).rejects.toMatchObject({ code, status: 400 });
    expect(await fixture.everything(gift.caller)).toEqual(before);
    expect(await redeemsOf(gift.id)).toEqual([]);
  });

  it.each(['NOBODY-HAS-THIS', 'x', '', 'ñandú', 'a'.repeat(128), "'; drop table gifts"])(
    'because there is none is 400 gift_not_found: %s',
    async (code) => {
      await expect(redeem(code)).rejects.toMatchObject({
        code: 'gift_not_found',
        status: 400,
        message: 'Gift not found',
      });
    },
  );

  it('because it was deleted answers as if there had never been one', async () => {
    const { caller, code, id } = await newGift();
    await fixture.delete(caller, id);
    await expect(redeem(code)).rejects.toMatchObject({ code: 'gift_not_found', status: 400 });
  });

  it('any more is refused: the limit of the gift, and that of a wallet however it is spelt', async () => {
    const { code } = await newGift();
    await redeem(code);
    await redeem(code, { walletAddress: '0x00A1' });
    await expect(redeem(code, { walletAddress: `0x${'A1'.padStart(64, '0')}` })).rejects.toMatchObject({
      code: 'gift_user_limit_reached',
      status: 400,
    });
    await redeem(code, { walletAddress: '0xb2' });
    await expect(redeem(code, { walletAddress: '0xb2' })).rejects.toMatchObject({
      code: 'gift_limit_reached',
      status: 400,
    });
  });

  it('is not asked for at all where the address is none', async () => {
    await expect(redeem('NOBODY-HAS-THIS', { walletAddress: 'ana' })).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });
});

describe('a request with an Idempotency-Key', () => {
  it('reserves once, also if the process of the first died while it waited', async () => {
    const { code, id } = await newGift();
    const [first, second] = [await redeem(code, { requestKey: 'one' }), await redeem(code, { requestKey: 'one' })];
    expect(second).toEqual(first);
    expect(await redeemsOf(id)).toHaveLength(1);
    await redeem(code, { requestKey: 'other' });
    expect(await redeemsOf(id)).toHaveLength(2);
  });

  it('is answered with its redeem although the gift is exhausted by now', async () => {
    const { code } = await newGift({ maxRedeems: 1, maxRedeemsPerUser: 1 });
    const first = await redeem(code, { requestKey: 'one' });
    expect(await redeem(code, { requestKey: 'one' })).toEqual(first);
  });

  it('tries anew where the first was given back', async () => {
    const { code, id } = await newGift({ maxRedeems: 1, maxRedeemsPerUser: 1 });
    const keyed = redeem(code, { requestKey: 'one' }, claimDeps(fixture.db));
    await expect(payMeanwhile(fixture.db, keyed, () => 'FAILED')).rejects.toMatchObject({ code: 'payout_failed' });
    expect(await redeem(code, { requestKey: 'one' })).toMatchObject({ status: 201 });
    expect(await redeemsOf(id)).toMatchObject([{ status: 'FAILED' }, { status: 'PENDING' }]);
  });

  it('is another request after a day', async () => {
    const { code, id } = await newGift();
    await redeem(code, { requestKey: 'one' });
    await fixture.db.run(sql`update gift_redeems set created_at = now() - interval '25 hours' where gift_id = ${id}`);
    await redeem(code, { requestKey: 'one' });
    expect(await redeemsOf(id)).toHaveLength(2);
    expect(await findBrokenInvariants(fixture.db)).toEqual([]);
  });
});
