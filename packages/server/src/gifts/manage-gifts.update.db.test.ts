import { describe, expect, it } from 'vitest';
import { at, BRIDGE, DAY_MS, DOLLAR, end, GAS, NOW, PUBLIC_URL, useGifts } from '../../testing/gifts.ts';
import { findBrokenInvariants } from '../../testing/ledger.ts';
import { refusal } from '../../testing/wallets.ts';
import type { Caller } from '../http/call.ts';
import { hold } from '../ledger/ledger.ts';
import { getGift, releaseExpired } from './manage-gifts.ts';

const fixture = useGifts();
const SHARE = 5n * DOLLAR + GAS + BRIDGE;
const TOTAL = 1_000n * DOLLAR;
const WEEK_LATER = NOW + 7 * DAY_MS;

const held = async (caller: Caller) => (await fixture.balance(caller)).held;
const available = async (caller: Caller) => (await fixture.balance(caller)).available;
/** A gift of ten redemptions that expired, and gave its rest back. */
async function expired(caller: Caller) {
  const gift = await fixture.create(caller, { expiresAt: at(1) });
  await releaseExpired(fixture.db, WEEK_LATER);
  return gift;
}

describe('changing a gift', () => {
  it('touches only what is named, and no money', async () => {
    const caller = await fixture.caller();
    const gift = await fixture.create(caller);
    expect(await fixture.update(caller, gift.id, { isActive: false })).toEqual({ ...gift, isActive: false });
    expect(await fixture.update(caller, gift.id, { name: 'Reyes' })).toEqual({
      ...gift,
      isActive: false,
      name: 'Reyes',
    });
    const changed = { ...gift, isActive: false, name: 'Reyes', expiresAt: null };
    expect(await fixture.update(caller, gift.id, { expiresAt: null })).toEqual(changed);
    expect(await fixture.update(caller, gift.id, {})).toEqual(changed);
    expect(await held(caller)).toBe(10n * SHARE);
  });

  it('refuses an expiry that is not after its start', async () => {
    const caller = await fixture.caller();
    const gift = await fixture.create(caller, { startsAt: at(1), expiresAt: at(5) });
    expect(await refusal(fixture.update(caller, gift.id, { expiresAt: at(1) }), 'invalid_request')).toContain(
      'body.expiresAt must be after startsAt',
    );
    expect(await getGift(fixture.db, caller, gift.id, PUBLIC_URL)).toEqual(gift);
  });

  it('to an expiry that is over gives the rest back at once', async () => {
    const caller = await fixture.caller();
    const gift = await fixture.create(caller);
    const changed = await fixture.update(caller, gift.id, { expiresAt: at(-0.5) });
    expect(changed).toMatchObject({ holdLedgerEntryId: null, totalHeldUsd: null });
    expect(await available(caller)).toBe(TOTAL);
  });

  it('of another organisation, deleted or unknown is not found', async () => {
    const [caller, other] = [await fixture.caller(), await fixture.caller()];
    const gift = await fixture.create(caller);
    const before = await fixture.everything(caller);
    const sandbox = { ...caller, environment: 'production' as const };
    for (const [who, id] of [
      [other, gift.id],
      [sandbox, gift.id],
      [caller, 'gift_nothing'],
    ] as const) {
      await refusal(fixture.update(who, id, { isActive: false }), 'gift_not_found');
      await refusal(fixture.delete(who, id), 'gift_not_found');
      await refusal(getGift(fixture.db, who, id, PUBLIC_URL), 'gift_not_found');
    }
    expect(await fixture.everything(caller)).toEqual(before);
    await fixture.delete(caller, gift.id);
    await refusal(fixture.update(caller, gift.id, { isActive: false }), 'gift_not_found');
    await refusal(fixture.delete(caller, gift.id), 'gift_not_found');
  });
});

describe('moving the expiry of an expired gift forward', () => {
  it('takes a new hold for the redemptions that are left', async () => {
    const caller = await fixture.caller();
    const gift = await fixture.create(caller, { expiresAt: at(1) });
    await end(fixture.db, await fixture.redeem(caller, gift.id), 'SUCCESS');
    await releaseExpired(fixture.db, WEEK_LATER);
    expect(await held(caller)).toBe(0n);
    const again = await fixture.update(caller, gift.id, { expiresAt: at(20) });
    expect(again.holdLedgerEntryId).not.toBe(gift.holdLedgerEntryId);
    expect(again).toMatchObject({ totalHeldUsd: 9 * 5.04, totalRedeems: 1, totalRedeemedUsd: 5 });
    expect(await held(caller)).toBe(9n * SHARE);
  });

  it('takes none while the rest of the first is not released yet', async () => {
    const caller = await fixture.caller();
    const gift = await fixture.create(
      caller,
      { expiresAt: at(-0.5), startsAt: at(-1) },
      fixture.deps({ now: () => 0 }),
    );
    const again = await fixture.update(caller, gift.id, { expiresAt: null });
    expect(again.holdLedgerEntryId).toBe(gift.holdLedgerEntryId);
    expect(await held(caller)).toBe(10n * SHARE);
  });

  it('is refused without the credits, and nothing changes', async () => {
    const caller = await fixture.caller();
    const gift = await expired(caller);
    await hold(fixture.db, { ...caller, amount: TOTAL - 10n * SHARE + 1n, reference: 'something else' });
    const before = await fixture.everything(caller);
    await refusal(fixture.update(caller, gift.id, { expiresAt: at(20), name: 'Reyes' }), 'insufficient_credits');
    expect(await fixture.everything(caller)).toEqual(before);
  });

  it('takes none for a change that leaves it expired', async () => {
    const caller = await fixture.caller();
    const gift = await expired(caller);
    const changed = await fixture.update(caller, gift.id, { name: 'Reyes' }, WEEK_LATER);
    expect(changed).toMatchObject({ name: 'Reyes', holdLedgerEntryId: null });
    expect(await held(caller)).toBe(0n);
  });

  it('takes none for a gift that is exhausted', async () => {
    const caller = await fixture.caller();
    const gift = await fixture.create(caller, { maxRedeems: 1 });
    await end(fixture.db, await fixture.redeem(caller, gift.id), 'SUCCESS');
    const changed = await fixture.update(caller, gift.id, { expiresAt: null });
    expect(changed).toMatchObject({ holdLedgerEntryId: null, totalHeldUsd: null });
    expect(await available(caller)).toBe(TOTAL - 5n * DOLLAR - GAS);
  });

  it('holds enough for a redeem of before that fails and gives its place back', async () => {
    const caller = await fixture.caller();
    const gift = await fixture.create(caller, { maxRedeems: 1, expiresAt: at(1) });
    const first = await fixture.redeem(caller, gift.id);
    await releaseExpired(fixture.db, WEEK_LATER);
    await fixture.update(caller, gift.id, { expiresAt: at(20) });
    await end(fixture.db, first, 'FAILED');
    await end(fixture.db, await fixture.redeem(caller, gift.id, 'solana'), 'SUCCESS');
    expect(await fixture.balance(caller)).toMatchObject({ held: 0n, available: TOTAL - SHARE });
    expect(await findBrokenInvariants(fixture.db)).toEqual([]);
  });
});
