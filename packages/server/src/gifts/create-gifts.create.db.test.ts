import { ApiError } from '@svc/protocol';
import { describe, expect, it } from 'vitest';
import { at, BRIDGE, DOLLAR, GAS, notConfigured, useGifts } from '../../testing/gifts.ts';
import { findBrokenInvariants } from '../../testing/ledger.ts';
import { refusal } from '../../testing/wallets.ts';
import { findHold } from '../ledger/ledger.ts';

const fixture = useGifts();

describe('a new gift', () => {
  it('is answered as it was asked for, with what it holds', async () => {
    const caller = await fixture.caller();
    const gift = await fixture.create(caller, { code: 'Navidad-26', startsAt: '2026-12-01', amount: 0.5 });
    expect(gift).toEqual({
      id: expect.stringMatching(/^gift_/),
      code: 'Navidad-26',
      claimUrl: 'https://pay.example/claim/Navidad-26',
      name: 'Navidad',
      amount: '0.5',
      token: 'USDC',
      chain: 'STARKNET',
      type: 'GIFT_CARD',
      maxRedeems: 10,
      maxRedeemsPerUser: 1,
      totalRedeems: 0,
      startsAt: '2026-12-01T00:00:00.000Z',
      expiresAt: at(10),
      isActive: true,
      cctpFast: true,
      holdLedgerEntryId: expect.stringMatching(/^led_/),
      totalHeldUsd: 5.4,
      totalRedeemedUsd: 0,
      recipientEmail: null,
      campaignName: null,
    });
  });

  it('holds amount, gas and the ceiling of the bridge for each redemption', async () => {
    const caller = await fixture.caller();
    const gift = await fixture.create(caller, { amount: 2.000001, maxRedeems: 3 });
    const held = 3n * (2_000_001n + GAS + BRIDGE);
    expect(await findHold(fixture.db, gift.holdLedgerEntryId ?? '')).toMatchObject({ amount: held, status: 'OPEN' });
    expect(await fixture.balance(caller)).toMatchObject({ held, available: 1_000n * DOLLAR - held });
    expect(await findBrokenInvariants(fixture.db)).toEqual([]);
  });

  it.each([
    ['that is bridged in the standard mode', { cctpFast: false }, {}],
    ['where there is no bridge', {}, { bridge: { feeCeiling: async () => notConfigured() } }],
  ])('holds nothing for the bridge %s', async (_, changes, deps) => {
    const caller = await fixture.caller();
    const gift = await fixture.create(caller, { amount: 1, maxRedeems: 1, ...changes }, fixture.deps(deps));
    expect(gift.totalHeldUsd).toBe(1.01);
  });

  it('may have no expiry, and take all that is there', async () => {
    const caller = await fixture.caller(0n);
    const gift = await fixture
      .create(caller, { expiresAt: null, amount: 0.000001 }, fixture.deps({ gas: 0n }))
      .catch((error: ApiError) => error.code);
    expect(gift).toBe('insufficient_credits');
    const rich = await fixture.caller(1n);
    const changes = { expiresAt: null, amount: 0.5, maxRedeems: 2, maxRedeemsPerUser: 2, cctpFast: false };
    expect(await fixture.create(rich, changes, fixture.deps({ gas: 0n }))).toMatchObject({
      expiresAt: null,
      totalHeldUsd: 1,
    });
    expect((await fixture.balance(rich)).available).toBe(0n);
  });
});

describe('a gift that cannot be made stores nothing', () => {
  it.each([
    ['seven decimals', { amount: 0.0000015 }, 'body.amount must have at most 6 decimals'],
    ['less than a millionth', { amount: 1e-7 }, 'body.amount must have at most 6 decimals'],
    ['more for each user than for all', { maxRedeemsPerUser: 11 }, 'body.maxRedeemsPerUser must be at most maxRedeems'],
    ['an expiry at its start', { startsAt: at(1), expiresAt: at(1) }, 'body.expiresAt must be after startsAt'],
    ['an expiry before its start', { startsAt: at(2), expiresAt: at(1) }, 'body.expiresAt must be after startsAt'],
    ['an expiry that is over', { startsAt: at(-2), expiresAt: at(-1) }, 'body.expiresAt must be in the future'],
    ['an expiry at this moment', { startsAt: at(-2), expiresAt: at(0) }, 'body.expiresAt must be in the future'],
    ['a day that the calendar lacks', { startsAt: '2026-02-30' }, 'body.startsAt must be a date-time'],
  ])('with %s', async (_, changes, message) => {
    const caller = await fixture.caller();
    const before = await fixture.everything(caller);
    expect(await refusal(fixture.create(caller, changes), 'invalid_request')).toContain(message);
    expect(await fixture.everything(caller)).toEqual(before);
  });

  it('for want of credits, by a millionth', async () => {
    const caller = await fixture.caller(1n);
    const before = await fixture.everything(caller);
    const changes = { amount: 0.5, maxRedeems: 2, maxRedeemsPerUser: 1, cctpFast: false };
    await refusal(fixture.create(caller, changes, fixture.deps({ gas: 1n })), 'insufficient_credits');
    expect(await fixture.everything(caller)).toEqual(before);
  });

  it('without an account that pays out, before the bridge is asked', async () => {
    const caller = await fixture.caller(1_000n, 'production');
    const before = await fixture.everything(caller);
    const feeCeiling = () => Promise.reject(new Error('This was not to be asked.'));
    const deps = fixture.deps({ manager: notConfigured, bridge: { feeCeiling } });
    await refusal(fixture.create(caller, {}, deps), 'chain_not_configured');
    await refusal(fixture.bulk(caller, {}, deps), 'chain_not_configured');
    expect(await fixture.everything(caller)).toEqual(before);
  });

  it('while the bridge does not tell its fee', async () => {
    const caller = await fixture.caller();
    const before = await fixture.everything(caller);
    const unavailable = async () => Promise.reject(new ApiError('chain_unavailable'));
    await refusal(
      fixture.create(caller, {}, fixture.deps({ bridge: { feeCeiling: unavailable } })),
      'chain_unavailable',
    );
    expect(await fixture.everything(caller)).toEqual(before);
  });

  it('whose code exists, in any case, of any organisation, deleted or not', async () => {
    const [one, other] = [await fixture.caller(), await fixture.caller()];
    const gift = await fixture.create(one, { code: 'Regalo_7' });
    const before = await fixture.everything(other);
    const message = await refusal(fixture.create(other, { code: 'REGALO_7' }), 'gift_code_taken');
    expect(message).toContain('REGALO_7');
    await refusal(fixture.create(one, { code: 'regalo_7' }), 'gift_code_taken');
    await fixture.delete(one, gift.id);
    await refusal(fixture.create(one, { code: 'Regalo_7' }), 'gift_code_taken');
    expect(await fixture.everything(other)).toEqual(before);
  });
});

it('of two at once with one code, one is made', async () => {
  const callers = [await fixture.caller(), await fixture.caller()];
  const made = await Promise.allSettled(callers.map((caller) => fixture.create(caller, { code: 'AT-ONCE' })));
  expect(made.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  expect(made.find((result) => result.status === 'rejected')?.reason).toMatchObject({ code: 'gift_code_taken' });
  const held = await Promise.all(callers.map(async (caller) => (await fixture.balance(caller)).held));
  expect(held.toSorted()).toEqual([0n, 10n * (5n * DOLLAR + GAS + BRIDGE)]);
});
