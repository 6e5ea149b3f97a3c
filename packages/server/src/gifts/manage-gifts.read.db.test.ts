import type { Gift } from '@svc/protocol';
import { describe, expect, it } from 'vitest';
import { at, DAY_MS, end, NOW, PUBLIC_URL, useGifts } from '../../testing/gifts.ts';
import type { Caller } from '../http/call.ts';
import { getGiftUsage, listCampaigns, listGiftRedeems, listGifts, listHolds } from './manage-gifts.ts';

const fixture = useGifts();

const list = async (caller: Caller, query: Parameters<typeof listGifts>[2] = {}) => {
  const page = (await listGifts(fixture.db, caller, query, PUBLIC_URL)) as { data: { code: string }[]; total: number };
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

describe('the search for gifts', () => {
  it('finds the id, the beginning of the code in any case and a part of the name', async () => {
    const caller = await fixture.caller();
    const { id } = await fixture.create(caller, { code: 'Find_Me-1', name: 'Día de las Madres' });
    await fixture.create(caller, { code: 'findXme-2', name: 'Reyes 100%' });
    const find = async (search: string) => (await list(caller, { search })).codes;
    expect(await find(id)).toEqual(['Find_Me-1']);
    expect(await find('fInD')).toEqual(['findXme-2', 'Find_Me-1']);
    expect(await find('find_')).toEqual(['Find_Me-1']);
    expect(await find('LAS MAD')).toEqual(['Find_Me-1']);
    expect(await find('0%')).toEqual(['findXme-2']);
    expect(await find('me-1')).toEqual([]);
    expect((await list(await fixture.caller(), { search: id })).codes).toEqual([]);
  });
});

describe('the list of redeems', () => {
  it('can be of one gift, and is empty for a gift of another organisation', async () => {
    const caller = await fixture.caller();
    const [one, other] = [await fixture.create(caller), await fixture.create(caller)];
    const redeem = await fixture.redeem(caller, one.id);
    await fixture.redeem(caller, other.id);
    const ids = async (of: Caller) => {
      const page = await listGiftRedeems(fixture.db, of, { giftId: one.id });
      return (page as { data: { id: string }[] }).data.map(({ id }) => id);
    };
    expect(await ids(caller)).toEqual([redeem]);
    expect(await ids(await fixture.caller())).toEqual([]);
  });
});

interface Read<T> {
  readonly data: T[];
  readonly nextCursor: string | null;
}

describe('campaigns', () => {
  const read = async (caller: Caller, query = {}) =>
    (await listCampaigns(fixture.db, caller, query, NOW)) as Read<{ name: string }>;

  it('sum up the bulk creations of one name, the last used first', async () => {
    const caller = await fixture.caller();
    const two = [{ email: 'a@example.com' }, { email: 'b@example.com' }];
    await fixture.bulk(caller, { name: 'Reyes', amount: 5, recipients: two });
    await fixture.bulk(caller, { name: 'Día de muertos', amount: 1 });
    await fixture.bulk(caller, { name: 'Reyes', amount: 2 });
    await fixture.create(caller, { name: 'Reyes' });
    const gifts = (await listGifts(fixture.db, caller, { campaignName: 'Reyes' }, PUBLIC_URL)) as { data: Gift[] };
    const [cheap, redeemed, deleted] = gifts.data;
    await end(fixture.db, await fixture.redeem(caller, redeemed?.id ?? ''), 'SUCCESS');
    await fixture.delete(caller, deleted?.id ?? '');
    expect(cheap?.amount).toBe('2');
    const { data, nextCursor } = await read(caller);
    expect(nextCursor).toBeNull();
    expect(data).toMatchObject([
      { name: 'Reyes', gifts: 2, activeGifts: 1, redeems: 1, totalUsd: 7, redeemedUsd: 5 },
      { name: 'Día de muertos', gifts: 1, activeGifts: 1, redeems: 0, totalUsd: 1, redeemedUsd: 0 },
    ]);
  });

  it('are read on with a cursor, and are of one organisation', async () => {
    const caller = await fixture.caller();
    for (const name of ['Uno', 'Dos', 'Tres']) await fixture.bulk(caller, { name });
    const first = await read(caller, { limit: 2 });
    expect(first.data.map(({ name }) => name)).toEqual(['Tres', 'Dos']);
    const second = await read(caller, { limit: 2, cursor: first.nextCursor });
    expect(second).toMatchObject({ data: [{ name: 'Uno' }], nextCursor: null });
    expect(await read(await fixture.caller())).toEqual({ data: [], nextCursor: null });
  });
});

describe('holds', () => {
  it('name the gift and what is left, newest first, without those that have ended', async () => {
    const caller = await fixture.caller();
    const first = await fixture.create(caller, { name: 'Uno', maxRedeems: 2 });
    const second = await fixture.create(caller, { name: 'Dos', maxRedeems: 1 });
    const gone = await fixture.create(caller);
    await fixture.delete(caller, gone.id);
    await end(fixture.db, await fixture.redeem(caller, first.id), 'SUCCESS');
    const read = async (query = {}, of = caller) =>
      (await listHolds(fixture.db, of, query)) as Read<Record<string, unknown>>;
    const newest = { giftId: second.id, giftName: 'Dos', amountUsd: 5.04, heldUsd: 5.04, redeemId: null };
    const page = await read({ limit: 1 });
    expect(page.data).toMatchObject([newest]);
    expect(await read({ limit: 1, cursor: page.nextCursor })).toMatchObject({
      data: [{ giftId: first.id, amountUsd: 10.08, settledUsd: 5.01, releasedUsd: 0, heldUsd: 5.07 }],
      nextCursor: null,
    });
    expect(await read({}, await fixture.caller())).toEqual({ data: [], nextCursor: null });
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
