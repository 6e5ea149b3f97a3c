import type { Gift } from '@svc/protocol';
import { describe, expect, it } from 'vitest';
import { at, DAY_MS, end, NOW, useGifts } from '../../testing/gifts.ts';
import type { Caller } from '../http/call.ts';
import { getGiftUsage, listGifts } from './manage-gifts.ts';

const fixture = useGifts();

const list = async (caller: Caller, query: Parameters<typeof listGifts>[2] = {}) => {
  const page = (await listGifts(fixture.db, caller, query)) as { data: { code: string }[]; total: number };
  return { codes: page.data.map(({ code }) => code), total: page.total };
};

describe('the list of gifts', () => {
  it('has the newest first, page by page, without deleted ones', async () => {
    const caller = await fixture.caller();
    const gifts: Gift[] = [];
    for (let made = 0; made < 5; made++) gifts.push(await fixture.create(caller, { maxRedeems: 1 }));
    await fixture.delete(caller, gifts[2]?.id ?? '');
    const codes = [4, 3, 1, 0].map((place) => gifts[place]?.code);
    expect(await list(caller)).toEqual({ codes, total: 4 });
    expect(await list(caller, { page: 2, limit: 3 })).toEqual({ codes: codes.slice(3), total: 4 });
    expect(await list(caller, { page: 3, limit: 3 })).toEqual({ codes: [], total: 4 });
  });

  it('is of one organisation and environment', async () => {
    const caller = await fixture.caller();
    await fixture.create(caller);
    expect(await list({ ...caller, environment: 'production' })).toEqual({ codes: [], total: 0 });
    expect(await list(await fixture.caller())).toEqual({ codes: [], total: 0 });
  });

  it('can be of those that are on or off, of one type, of one campaign, or all of these', async () => {
    const caller = await fixture.caller();
    await fixture.create(caller, { code: 'list-off', isActive: false });
    await fixture.create(caller, { code: 'list-loyal', type: 'LOYALTY' });
    await fixture.bulk(caller, {
      name: 'Reyes',
      type: 'LOYALTY',
      recipients: [{ email: 'a@example.com', code: 'list-king' }],
    });
    expect((await list(caller, { isActive: false })).codes).toEqual(['list-off']);
    expect((await list(caller, { isActive: true })).codes).toEqual(['list-king', 'list-loyal']);
    expect((await list(caller, { type: 'LOYALTY' })).codes).toEqual(['list-king', 'list-loyal']);
    expect(await list(caller, { campaignName: 'Reyes' })).toEqual({ codes: ['list-king'], total: 1 });
    expect((await list(caller, { campaignName: 'reyes' })).codes).toEqual([]);
    expect((await list(caller, { campaignName: 'Reyes', isActive: true, type: 'LOYALTY' })).codes).toEqual([
      'list-king',
    ]);
    expect((await list(caller, { campaignName: 'Reyes', isActive: false })).codes).toEqual([]);
  });
});

describe('usage', () => {
  it('of nothing is zero', async () => {
    expect(await getGiftUsage(fixture.db, await fixture.caller(), NOW)).toEqual({
      totalGifts: 0,
      activeGifts: 0,
      totalRedeems: 0,
      totalHeldUsd: 0,
      totalRedeemedUsd: 0,
    });
  });

  it('counts as active what can be redeemed now, and as redeemed also what deleted gifts paid', async () => {
    const caller = await fixture.caller();
    const active = await fixture.create(caller, { maxRedeems: 2 });
    await fixture.create(caller, { isActive: false, maxRedeems: 1 });
    await fixture.create(caller, { startsAt: at(1), maxRedeems: 1 });
    await fixture.create(caller, { expiresAt: at(2), maxRedeems: 1 });
    const exhausted = await fixture.create(caller, { maxRedeems: 1 });
    await end(fixture.db, await fixture.redeem(caller, exhausted.id), 'SUCCESS');
    const deleted = await fixture.create(caller, { maxRedeems: 5 });
    await end(fixture.db, await fixture.redeem(caller, deleted.id), 'SUCCESS');
    await fixture.redeem(caller, deleted.id);
    await fixture.delete(caller, deleted.id);
    await fixture.redeem(caller, active.id);
    const usage = await getGiftUsage(fixture.db, caller, NOW);
    const heldUsd = 5 * 5.04 + 5.01;
    expect(usage).toEqual({
      totalGifts: 5,
      activeGifts: 2,
      totalRedeems: 4,
      totalHeldUsd: Number(heldUsd.toFixed(6)),
      totalRedeemedUsd: 10,
    });
    expect(await getGiftUsage(fixture.db, caller, NOW + 3 * DAY_MS)).toMatchObject({ activeGifts: 2 });
  });
});
