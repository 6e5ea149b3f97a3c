import { describe, expect, it } from 'vitest';
import { at, BRIDGE, DAY_MS, DOLLAR, end, GAS, NOW, PUBLIC_URL, useGifts } from '../../testing/gifts.ts';
import { findBrokenInvariants } from '../../testing/ledger.ts';
import { refusal } from '../../testing/wallets.ts';
import type { Caller } from '../http/call.ts';
import { lockGift } from './gift.ts';
import { getGift, getGiftRedeem, listGiftRedeems, releaseExpired } from './manage-gifts.ts';

const fixture = useGifts();
const SHARE = 5n * DOLLAR + GAS + BRIDGE;
const TOTAL = 1_000n * DOLLAR;
const WEEK_LATER = NOW + 7 * DAY_MS;

const held = async (caller: Caller) => (await fixture.balance(caller)).held;
const available = async (caller: Caller) => (await fixture.balance(caller)).available;

describe('what a gift holds', () => {
  it('returns when it is deleted, but for redeems that are under way', async () => {
    const caller = await fixture.caller();
    const gift = await fixture.create(caller);
    const [paid, failed] = [await fixture.redeem(caller, gift.id), await fixture.redeem(caller, gift.id, 'solana')];
    const open = 2n * (5n * DOLLAR + GAS) + BRIDGE;
    expect(await fixture.delete(caller, gift.id)).toEqual({ success: true, releasedUsd: 40.35 });
    expect(await held(caller)).toBe(open);
    await end(fixture.db, paid, 'SUCCESS');
    await end(fixture.db, failed, 'FAILED');
    expect(await fixture.balance(caller)).toMatchObject({ held: 0n, available: TOTAL - 5n * DOLLAR - GAS });
    expect(await findBrokenInvariants(fixture.db)).toEqual([]);
  });

  it('returns when it is exhausted: what the bridge was not paid', async () => {
    const caller = await fixture.caller();
    const gift = await fixture.create(caller, { maxRedeems: 2 });
    const redeems = [await fixture.redeem(caller, gift.id), await fixture.redeem(caller, gift.id)];
    for (const id of redeems) await end(fixture.db, id, 'SUCCESS');
    expect(await fixture.balance(caller)).toMatchObject({ held: 0n, available: TOTAL - 2n * (5n * DOLLAR + GAS) });
    const shown = await getGift(fixture.db, caller, gift.id, PUBLIC_URL);
    expect(shown).toMatchObject({ totalHeldUsd: null, holdLedgerEntryId: null, totalRedeemedUsd: 10, totalRedeems: 2 });
    expect(await fixture.delete(caller, gift.id)).toEqual({ success: true, releasedUsd: 0 });
  });

  it('returns when it expires, not a moment before', async () => {
    const caller = await fixture.caller();
    const gift = await fixture.create(caller, { expiresAt: at(1) });
    const open = await fixture.redeem(caller, gift.id);
    await releaseExpired(fixture.db, NOW + DAY_MS - 1);
    expect(await held(caller)).toBe(10n * SHARE);
    await releaseExpired(fixture.db, NOW + DAY_MS);
    expect(await held(caller)).toBe(5n * DOLLAR + GAS);
    await releaseExpired(fixture.db, NOW + DAY_MS);
    await end(fixture.db, open, 'FAILED');
    expect(await available(caller)).toBe(TOTAL);
  });

  it('returns for more expired gifts than one batch has, of several organisations', async () => {
    const callers = await Promise.all([fixture.caller(10_000n), fixture.caller(10_000n)]);
    for (const caller of callers) {
      for (let made = 0; made < 60; made++) await fixture.create(caller, { expiresAt: at(2), maxRedeems: 1 });
    }
    await Promise.all([releaseExpired(fixture.db, WEEK_LATER), releaseExpired(fixture.db, WEEK_LATER)]);
    await releaseExpired(fixture.db, WEEK_LATER);
    expect(await Promise.all(callers.map(held))).toEqual([0n, 0n]);
    expect(await findBrokenInvariants(fixture.db)).toEqual([]);
  });

  it('of a gift that is being changed is left for the next run', async () => {
    const caller = await fixture.caller();
    const gift = await fixture.create(caller, { expiresAt: at(1) });
    await fixture.db.tx(async (tx) => {
      await lockGift(tx, caller, gift.id);
      await releaseExpired(fixture.db, WEEK_LATER);
    });
    expect(await held(caller)).toBe(10n * SHARE);
    await releaseExpired(fixture.db, WEEK_LATER);
    expect(await held(caller)).toBe(0n);
  });
});

describe('redemptions', () => {
  it('stay readable when their gift is deleted, newest first, for their organisation alone', async () => {
    const [caller, other] = [await fixture.caller(), await fixture.caller()];
    const gift = await fixture.create(caller);
    const ids = [await fixture.redeem(caller, gift.id), await fixture.redeem(caller, gift.id, 'solana')];
    await end(fixture.db, ids[0] ?? '', 'SUCCESS');
    await fixture.delete(caller, gift.id);
    const list = (await listGiftRedeems(fixture.db, caller, {})) as { data: { id: string }[]; total: number };
    expect([list.data.map(({ id }) => id), list.total]).toEqual([ids.toReversed(), 2]);
    expect(await getGiftRedeem(fixture.db, caller, ids[0] ?? '')).toMatchObject({
      giftId: gift.id,
      code: gift.code,
      status: 'SUCCESS',
      destinationChain: 'starknet',
      walletAddress: '0x01',
      amount: '5',
      cctpBurnTxHash: null,
      receiveChainTxHash: null,
    });
    expect(await listGiftRedeems(fixture.db, other, {})).toMatchObject({ data: [], total: 0 });
    await refusal(getGiftRedeem(fixture.db, other, ids[0] ?? ''), 'redeem_not_found');
    await refusal(getGiftRedeem(fixture.db, caller, gift.id), 'redeem_not_found');
  });
});
