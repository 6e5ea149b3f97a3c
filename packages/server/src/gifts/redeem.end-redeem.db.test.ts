import { listen, sql } from '@svc/store';
import { describe, expect, it, vi } from 'vitest';
import { at, BRIDGE, DOLLAR, GAS, useGifts } from '../../testing/gifts.ts';
import { findBrokenInvariants } from '../../testing/ledger.ts';
import type { Caller } from '../http/call.ts';
import { hold } from '../ledger/ledger.ts';
import { newId } from '../util/ids.ts';
import { endRedeems, failRedeem, findRedeem, REDEEMS_CHANNEL, succeedRedeem, UNCOVERED } from './redeem.ts';

const fixture = useGifts();
const SHARE = 5n * DOLLAR + GAS;
const WHOLE = SHARE + BRIDGE;

const succeed = (id: string, hash = '0x1') => fixture.db.tx((tx) => succeedRedeem(tx, id, { transactionHash: hash }));
const fail = (id: string) => fixture.db.tx((tx) => failRedeem(tx, id, 'out of luck'));

interface Counts {
  readonly total: number;
  readonly redeemed: bigint;
  readonly isHeld: boolean;
}

const countsOf = (giftId: string) =>
  fixture.db.one<Counts>(sql`
    select total_redeems as total, redeemed_micros as redeemed, hold_id is not null as "isHeld" from gifts
     where id = ${giftId}`);

/** An organisation with just enough for one gift, and one redeem of it. */
async function redeemed(maxRedeems = 2, credits = 100n): Promise<{ caller: Caller; giftId: string; id: string }> {
  const caller = await fixture.caller(credits);
  const gift = await fixture.create(caller, { maxRedeems, maxRedeemsPerUser: maxRedeems });
  return { caller, giftId: gift.id, id: await fixture.redeem(caller, gift.id) };
}

describe('a redeem that was paid', () => {
  it('spends its share, and nothing the second time', async () => {
    const { caller, giftId, id } = await redeemed();
    await succeed(id);
    await succeed(id);
    expect(await fixture.balance(caller)).toMatchObject({ total: 100n * DOLLAR - SHARE, held: 2n * WHOLE - SHARE });
    expect(await countsOf(giftId)).toEqual({ total: 1, redeemed: 5n * DOLLAR, isHeld: true });
    expect(await findBrokenInvariants(fixture.db)).toEqual([]);
  });

  it('keeps the hash that the chain says last', async () => {
    const { id } = await redeemed();
    await succeed(id, '0x1');
    await succeed(id, '0x2');
    expect(await findRedeem(fixture.db, id)).toMatchObject({ status: 'SUCCESS', transactionHash: '0x2' });
  });

  it('releases the rest of the gift if it was the last one', async () => {
    const { caller, giftId, id } = await redeemed(2);
    const other = await fixture.redeem(caller, giftId);
    await succeed(id);
    expect(await countsOf(giftId)).toMatchObject({ isHeld: true });
    await succeed(other);
    expect(await countsOf(giftId)).toEqual({ total: 2, redeemed: 10n * DOLLAR, isHeld: false });
    expect(await fixture.balance(caller)).toMatchObject({ held: 0n, available: 100n * DOLLAR - 2n * SHARE });
  });

  it('stays paid when a failure is reported later', async () => {
    const { caller, id } = await redeemed();
    await succeed(id);
    const before = await fixture.everything(caller);
    await fail(id);
    expect(await fixture.everything(caller)).toEqual(before);
    expect(await findRedeem(fixture.db, id)).toMatchObject({ status: 'SUCCESS', reason: null });
  });

  it('is announced to those who wait, once it is stored', async () => {
    const { id } = await redeemed();
    const heard: string[] = [];
    const listener = await listen(fixture.db.url, REDEEMS_CHANNEL, { onMessage: (text) => heard.push(text) });
    await succeed(id);
    await expect.poll(() => heard).toEqual([id]);
    await listener.close();
  });
});

describe('a redeem that failed', () => {
  it('gives its place and its share back to the gift, once', async () => {
    const { caller, giftId, id } = await redeemed(1);
    await fixture.db.run(sql`insert into gift_users (gift_id, address, redeems) values (${giftId}, '0x1', 1)`);
    await fail(id);
    await fail(id);
    expect(await countsOf(giftId)).toEqual({ total: 0, redeemed: 0n, isHeld: true });
    expect(await fixture.balance(caller)).toMatchObject({ held: WHOLE });
    expect(await fixture.db.rows(sql`select redeems from gift_users where gift_id = ${giftId}`)).toEqual([
      { redeems: 0 },
    ]);
    await succeed(await fixture.redeem(caller, giftId));
    expect(await fixture.balance(caller)).toMatchObject({ held: 0n, total: 100n * DOLLAR - SHARE });
  });

  it('gives its share back to the organisation where the gift is deleted', async () => {
    const { caller, giftId, id } = await redeemed();
    await fixture.delete(caller, giftId);
    expect(await fixture.balance(caller)).toMatchObject({ held: SHARE });
    await fail(id);
    expect(await fixture.balance(caller)).toMatchObject({ held: 0n, available: 100n * DOLLAR });
    expect(await findBrokenInvariants(fixture.db)).toEqual([]);
  });

  it('gives its share back to the organisation where the gift has a new hold', async () => {
    const { caller, giftId, id } = await redeemed(1);
    await fixture.update(caller, giftId, { expiresAt: at(-0.5) });
    await fixture.update(caller, giftId, { expiresAt: at(5) });
    expect(await fixture.balance(caller)).toMatchObject({ held: SHARE + WHOLE });
    await fail(id);
    expect(await fixture.balance(caller)).toMatchObject({ held: WHOLE });
    await succeed(await fixture.redeem(caller, giftId));
    expect(await fixture.balance(caller)).toMatchObject({ held: 0n, available: 100n * DOLLAR - SHARE });
  });

  it('after its burn gives nothing back, and spends its share once however it ends', async () => {
    const { caller, giftId, id } = await redeemed(2);
    await fixture.db.run(sql`update gift_redeems set status = 'ATTESTED' where id = ${id}`);
    await fixture.db.tx((tx) => endRedeems(tx, [{ id, end: 'FAILED', reason: 'no mint', burned: true }]));
    const spent = { total: 100n * DOLLAR - SHARE, held: 2n * WHOLE - SHARE };
    expect(await fixture.balance(caller)).toMatchObject(spent);
    expect(await countsOf(giftId)).toEqual({ total: 1, redeemed: 0n, isHeld: true });
    await fixture.db.run(sql`update gift_redeems set status = 'ATTESTED' where id = ${id}`);
    await fixture.db.tx((tx) => succeedRedeem(tx, id, { receiveHash: 'sig' }));
    expect(await fixture.balance(caller)).toMatchObject(spent);
    expect(await countsOf(giftId)).toEqual({ total: 1, redeemed: 5n * DOLLAR, isHeld: true });
  });

  it('after its burn holds nothing back when it is sent on again and its gift is deleted', async () => {
    const { caller, giftId, id } = await redeemed(2);
    await fixture.db.run(sql`update gift_redeems set status = 'BRIDGING' where id = ${id}`);
    await fixture.db.tx((tx) => endRedeems(tx, [{ id, end: 'FAILED', reason: 'no mint', burned: true }]));
    await fixture.db.run(sql`update gift_redeems set status = 'ATTESTED', spent = true where id = ${id}`);
    await fixture.delete(caller, giftId);
    expect(await fixture.balance(caller)).toMatchObject({ held: 0n, total: 100n * DOLLAR - SHARE });
    await succeed(id);
    expect(await fixture.balance(caller)).toMatchObject({ held: 0n, total: 100n * DOLLAR - SHARE });
  });
});

describe('a redeem that was paid after it had failed', () => {
  it('takes its place and its share again', async () => {
    const { caller, giftId, id } = await redeemed(1);
    await fail(id);
    await succeed(id);
    expect(await countsOf(giftId)).toEqual({ total: 1, redeemed: 5n * DOLLAR, isHeld: false });
    expect(await fixture.balance(caller)).toMatchObject({ held: 0n, total: 100n * DOLLAR - SHARE });
    expect(await findRedeem(fixture.db, id)).toMatchObject({ status: 'SUCCESS', reason: null });
  });

  it('is paid from available credits where others took its place', async () => {
    const { caller, giftId, id } = await redeemed(1);
    await fail(id);
    const other = await fixture.redeem(caller, giftId);
    await succeed(id);
    expect(await countsOf(giftId)).toEqual({ total: 1, redeemed: 5n * DOLLAR, isHeld: true });
    await succeed(other);
    expect(await countsOf(giftId)).toEqual({ total: 1, redeemed: 10n * DOLLAR, isHeld: false });
    expect(await fixture.balance(caller)).toMatchObject({ held: 0n, total: 100n * DOLLAR - 2n * SHARE });
    expect(await findBrokenInvariants(fixture.db)).toEqual([]);
  });

  it('is paid from available credits where the gift is deleted', async () => {
    const { caller, giftId, id } = await redeemed(1);
    await fixture.delete(caller, giftId);
    await fail(id);
    await succeed(id);
    expect(await fixture.balance(caller)).toMatchObject({ held: 0n, total: 100n * DOLLAR - SHARE });
  });

  it('is marked and logged where no credits are left', async () => {
    const { caller, giftId, id } = await redeemed(1, 6n);
    await fail(id);
    const other = await fixture.redeem(caller, giftId);
    const error = vi.fn();
    await fixture.db.tx((tx) => succeedRedeem(tx, id, { transactionHash: '0x7' }, { error }));
    expect(await findRedeem(fixture.db, id)).toMatchObject({
      status: 'SUCCESS',
      transactionHash: '0x7',
      reason: UNCOVERED,
    });
    expect(error).toHaveBeenCalledExactlyOnceWith({ redeemId: id }, expect.any(String));
    await succeed(id);
    expect(await findRedeem(fixture.db, id)).toMatchObject({ reason: UNCOVERED });
    await succeed(other);
    expect(await fixture.balance(caller)).toMatchObject({ held: 0n, total: 6n * DOLLAR - SHARE });
    expect(await findBrokenInvariants(fixture.db)).toEqual([]);
  });
});

describe('several redeems that end together', () => {
  it('all end, or none', async () => {
    const { caller, giftId, id } = await redeemed(3);
    const other = await fixture.redeem(caller, giftId);
    const ends = [id, other, 'rdm_nobody'].map((one) => ({ id: one, end: 'SUCCESS' }) as const);
    await expect(fixture.db.tx((tx) => endRedeems(tx, ends))).rejects.toThrow('does not exist');
    expect((await findRedeem(fixture.db, id))?.status).toBe('PENDING');
    await fixture.db.tx((tx) => endRedeems(tx, ends.slice(0, 2)));
    expect(await countsOf(giftId)).toMatchObject({ total: 2, redeemed: 10n * DOLLAR });
  });

  it('lock every gift before any credit moves, so that a transaction that holds one of them can continue', async () => {
    const { caller, id } = await redeemed(3);
    const second = await fixture.create(caller, { maxRedeems: 3 });
    const other = await fixture.redeem(caller, second.id);
    const ends = [id, other].map((one) => ({ id: one, end: 'SUCCESS' }) as const);
    const { ended } = await fixture.db.tx(async (tx) => {
      await tx.rows(sql`select from gifts where id = ${second.id} for no key update`);
      const ended = fixture.db.tx((their) => endRedeems(their, ends));
      ended.catch(() => {});
      while (!(await someoneWaits())) await Promise.resolve();
      await hold(tx, { ...caller, amount: DOLLAR, reference: 'meanwhile' });
      return { ended };
    });
    await ended;
    expect(await fixture.balance(caller)).toMatchObject({ total: 100n * DOLLAR - 2n * SHARE });
    expect(await findBrokenInvariants(fixture.db)).toEqual([]);
  });

  it('of several environments lock their credits in the order of their names, also when some succeed and others fail', async () => {
    const both = [await redeemed(), await redeemed()];
    const [first, last] = both.toSorted((a, b) => (a.caller.organizationId < b.caller.organizationId ? -1 : 1));
    if (!first || !last) throw new Error('Two redeems are needed.');
    // Its share goes back to the organisation when it fails.
    await fixture.delete(last.caller, last.giftId);
    const ends = [
      { id: first.id, end: 'SUCCESS' },
      { id: last.id, end: 'FAILED', reason: 'out of luck' },
    ] as const;
    const lockOf = ({ caller }: typeof first) => sql`
      select from ledger_balances
       where organization_id = ${caller.organizationId} and environment = ${caller.environment} for no key update nowait`;
    const { ended } = await fixture.db.tx(async (tx) => {
      await tx.rows(lockOf(first));
      const ended = fixture.db.tx((their) => endRedeems(their, ends));
      ended.catch(() => {});
      while (!(await someoneWaits())) await Promise.resolve();
      await tx.rows(lockOf(last));
      return { ended };
    });
    await ended;
    expect(await fixture.balance(first.caller)).toMatchObject({ total: 100n * DOLLAR - SHARE });
    expect(await fixture.balance(last.caller)).toMatchObject({ total: 100n * DOLLAR });
    expect(await findBrokenInvariants(fixture.db)).toEqual([]);
  });
});

/** Asked outside of the transaction that is in the way: inside, the first answer would stay the same. */
const someoneWaits = () =>
  fixture.db.one(sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' limit 1`);

describe('webhook events of a redeem', () => {
  const told = ({ organizationId }: Caller) =>
    fixture.db.rows<{ type: string; data: object }>(sql`
      select type, data from events where organization_id = ${organizationId} order by id`);
  const listenTo = ({ organizationId, environment }: Caller) =>
    fixture.db.run(sql`
      insert into webhooks (id, organization_id, environment, url, event_types, secret)
      values (${newId('whk')}, ${organizationId}, ${environment}, 'https://hooks.example', '{gift.redeemed,gift.redeem-failed}', '')`);

  it('do not exist where no webhook names them', async () => {
    const { caller, id } = await redeemed();
    await succeed(id);
    expect(await told(caller)).toEqual([]);
  });

  it('tell once that it was paid, without the code', async () => {
    const { caller, giftId, id } = await redeemed();
    await listenTo(caller);
    await succeed(id);
    await succeed(id, '0x2');
    const [event, ...others] = await told(caller);
    expect(others).toEqual([]);
    expect(event).toMatchObject({ type: 'gift.redeemed', data: { id, giftId, amount: '5', transactionHash: '0x1' } });
    expect(event?.data).not.toHaveProperty('code');
  });

  it('tell that it failed, and that it was paid after all', async () => {
    const { caller, id } = await redeemed();
    await listenTo(caller);
    await fail(id);
    await fail(id);
    await succeed(id);
    expect(await told(caller)).toMatchObject([
      { type: 'gift.redeem-failed', data: { id, status: 'FAILED', reason: 'out of luck' } },
      { type: 'gift.redeemed', data: { id, status: 'SUCCESS' } },
    ]);
  });
});
