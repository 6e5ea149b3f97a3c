import { ApiError } from '@svc/protocol';
import type { Db } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { everythingOf, newOwner, useDatabase, whileOpen } from '../../testing/database.ts';
import { findBrokenInvariants } from '../../testing/ledger.ts';
import { balance, endMany, findHold, hold, type LedgerOwner, listEntries, release, settle } from './ledger.ts';

const ledger = useDatabase();

async function openHold(amount: bigint): Promise<{ owner: LedgerOwner; holdId: string }> {
  const owner = await newOwner(ledger.db(), { credits: 1_000n });
  const { id } = await hold(ledger.db(), { ...owner, amount, reference: 'gift' });
  return { owner, holdId: id };
}

async function expectRefusal(owner: LedgerOwner, attempt: () => Promise<unknown>): Promise<void> {
  const before = await everythingOf(ledger.db(), owner);
  const outcome = attempt();
  await expect(outcome).rejects.toThrow();
  await expect(outcome).rejects.not.toBeInstanceOf(ApiError);
  expect(await everythingOf(ledger.db(), owner)).toEqual(before);
}

describe('settle', () => {
  it('spends a part of the hold and leaves the rest held', async () => {
    const { owner, holdId } = await openHold(300n);
    const entry = await settle(ledger.db(), { holdId, amount: 100n, reference: 'redeem 1' });
    expect(entry).toMatchObject({ ...owner, type: 'SETTLE', amount: 100n, holdId, reference: 'redeem 1' });
    expect(entry).toMatchObject({ availableAfter: 700n, heldAfter: 200n });
    expect(await findHold(ledger.db(), holdId)).toMatchObject({ settled: 100n, released: 0n, status: 'OPEN' });
    expect(await balance(ledger.db(), owner)).toEqual({ available: 700n, held: 200n, total: 900n });
  });

  it('of all that remains closes the hold', async () => {
    const { holdId } = await openHold(300n);
    await settle(ledger.db(), { holdId, amount: 120n, reference: 'redeem 1' });
    await settle(ledger.db(), { holdId, amount: 180n, reference: 'redeem 2' });
    expect(await findHold(ledger.db(), holdId)).toMatchObject({ settled: 300n, released: 0n, status: 'CLOSED' });
  });

  it('with the same reference again answers the first entry and moves nothing, even of a closed hold', async () => {
    const { owner, holdId } = await openHold(300n);
    const redeem = { holdId, amount: 200n, reference: 'redeem 1' };
    const first = await settle(ledger.db(), redeem);
    const before = await everythingOf(ledger.db(), owner);
    expect(await settle(ledger.db(), redeem)).toEqual(first);
    expect(await everythingOf(ledger.db(), owner)).toEqual(before);
    await release(ledger.db(), { holdId, reference: 'deleted' });
    expect(await settle(ledger.db(), redeem)).toEqual(first);
  });

  it('with the same reference and another amount is refused', async () => {
    const { owner, holdId } = await openHold(300n);
    await settle(ledger.db(), { holdId, amount: 100n, reference: 'redeem 1' });
    await expectRefusal(owner, () => settle(ledger.db(), { holdId, amount: 101n, reference: 'redeem 1' }));
  });

  it.each([301n, 0n, -1n])('of %s from a hold of 300 is refused and changes nothing', async (amount) => {
    const { owner, holdId } = await openHold(300n);
    await hold(ledger.db(), { ...owner, amount: 500n, reference: 'another hold, so that enough is held' });
    await expectRefusal(owner, () => settle(ledger.db(), { holdId, amount, reference: 'redeem 1' }));
  });

  it('of a closed hold is refused and changes nothing', async () => {
    const { owner, holdId } = await openHold(300n);
    await hold(ledger.db(), { ...owner, amount: 500n, reference: 'another hold, so that enough is held' });
    await release(ledger.db(), { holdId, reference: 'deleted' });
    await expectRefusal(owner, () => settle(ledger.db(), { holdId, amount: 1n, reference: 'redeem 1' }));
  });

  it('of a hold that does not exist is refused', async () => {
    const settled = settle(ledger.db(), { holdId: 'led_nothing', amount: 1n, reference: 'redeem 1' });
    await expect(settled).rejects.toThrow('does not exist');
  });

  it('answers the entry of a settlement that was still under way', async () => {
    const { owner, holdId } = await openHold(300n);
    const redeem = (db: Db) => settle(db, { holdId, amount: 200n, reference: 'redeem 1' });
    const entry = await whileOpen(ledger.db(), redeem, () => redeem(ledger.db()));
    expect(entry).toMatchObject({ amount: 200n, heldAfter: 100n });
    expect((await balance(ledger.db(), owner)).held).toBe(100n);
  });

  it('of one share from twenty callers at once spends it once', async () => {
    const { owner, holdId } = await openHold(300n);
    const redeem = { holdId, amount: 100n, reference: 'redeem 1' };
    const answers = await Promise.all(Array.from({ length: 20 }, () => settle(ledger.db(), redeem)));
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    expect((await balance(ledger.db(), owner)).held).toBe(200n);
  });

  it('of fifty shares at once from a hold of thirty spends exactly thirty', async () => {
    const { owner, holdId } = await openHold(30n);
    const attempts = await Promise.allSettled(
      Array.from({ length: 50 }, (_, i) => settle(ledger.db(), { holdId, amount: 1n, reference: `redeem ${i}` })),
    );
    expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(30);
    expect(await findHold(ledger.db(), holdId)).toMatchObject({ settled: 30n, status: 'CLOSED' });
    expect(await balance(ledger.db(), owner)).toEqual({ available: 970n, held: 0n, total: 970n });
    expect(await findBrokenInvariants(ledger.db())).toEqual([]);
  });
});

describe('release', () => {
  it('without an amount returns all that remains and closes the hold', async () => {
    const { owner, holdId } = await openHold(300n);
    await settle(ledger.db(), { holdId, amount: 100n, reference: 'redeem 1' });
    const entry = await release(ledger.db(), { holdId, reference: 'deleted' });
    expect(entry).toMatchObject({ type: 'RELEASE', amount: 200n, holdId, availableAfter: 900n, heldAfter: 0n });
    expect(await findHold(ledger.db(), holdId)).toMatchObject({ settled: 100n, released: 200n, status: 'CLOSED' });
    expect(await balance(ledger.db(), owner)).toEqual({ available: 900n, held: 0n, total: 900n });
  });

  it('of a part leaves the hold open', async () => {
    const { holdId } = await openHold(300n);
    await release(ledger.db(), { holdId, amount: 50n, reference: 'unused gas' });
    expect(await findHold(ledger.db(), holdId)).toMatchObject({ settled: 0n, released: 50n, status: 'OPEN' });
  });

  it('may carry the reference of the settlement beside it', async () => {
    const { holdId } = await openHold(300n);
    await settle(ledger.db(), { holdId, amount: 90n, reference: 'redeem 1' });
    await release(ledger.db(), { holdId, amount: 10n, reference: 'redeem 1' });
    expect(await findHold(ledger.db(), holdId)).toMatchObject({ settled: 90n, released: 10n });
  });

  it('with the same reference again answers the first entry and moves nothing', async () => {
    const { owner, holdId } = await openHold(300n);
    const first = await release(ledger.db(), { holdId, reference: 'deleted' });
    const before = await everythingOf(ledger.db(), owner);
    expect(await release(ledger.db(), { holdId, reference: 'deleted' })).toEqual(first);
    expect(await everythingOf(ledger.db(), owner)).toEqual(before);
  });

  it('of more than remains, or of a closed hold, is refused and changes nothing', async () => {
    const { owner, holdId } = await openHold(300n);
    await expectRefusal(owner, () => release(ledger.db(), { holdId, amount: 301n, reference: 'too much' }));
    await release(ledger.db(), { holdId, reference: 'deleted' });
    await expectRefusal(owner, () => release(ledger.db(), { holdId, reference: 'expired' }));
    await expectRefusal(owner, () => release(ledger.db(), { holdId, amount: 1n, reference: 'expired' }));
  });

  it('of everything leaves out what is being settled at the same moment', async () => {
    const { holdId } = await openHold(100n);
    const redeem = (db: Db) => settle(db, { holdId, amount: 30n, reference: 'redeem 1' });
    const entry = await whileOpen(ledger.db(), redeem, () => release(ledger.db(), { holdId, reference: 'deleted' }));
    expect(entry.amount).toBe(70n);
  });

  it('of everything while shares are settled returns exactly what was not spent', async () => {
    const { owner, holdId } = await openHold(100n);
    const settlements = Array.from(
      { length: 10 },
      (_, i) => () => settle(ledger.db(), { holdId, amount: 7n, reference: `redeem ${i}` }),
    );
    const work = settlements.toSpliced(5, 0, () => release(ledger.db(), { holdId, reference: 'deleted' }));
    const outcomes = await Promise.allSettled(work.map((start) => start()));
    const spent = 7n * BigInt(outcomes.filter(({ status }) => status === 'fulfilled').length - 1);
    expect(outcomes[5]?.status).toBe('fulfilled');
    expect(await findHold(ledger.db(), holdId)).toMatchObject({ settled: spent, released: 100n - spent });
    expect(await balance(ledger.db(), owner)).toEqual({ available: 1_000n - spent, held: 0n, total: 1_000n - spent });
  });
});

describe('holds that end together', () => {
  const settled = (holdId: string, amount: bigint, reference: string) =>
    ({ type: 'SETTLE', holdId, amount, reference }) as const;
  const released = (holdId: string, amount: bigint, reference: string) =>
    ({ type: 'RELEASE', holdId, amount, reference }) as const;

  it('are an entry each, in the order given, for every environment that they are of', async () => {
    const [first, other] = [await openHold(300n), await openHold(50n)];
    const { id } = await hold(ledger.db(), { ...first.owner, amount: 100n, reference: 'another gift' });
    await endMany(ledger.db(), [
      settled(first.holdId, 200n, 'redeem 1'),
      settled(other.holdId, 50n, 'redeem 2'),
      released(id, 40n, 'rest'),
      settled(first.holdId, 100n, 'redeem 3'),
      settled(id, 60n, 'redeem 4'),
    ]);
    const { entries } = await listEntries(ledger.db(), first.owner, { limit: 4, offset: 0 });
    expect(entries.toReversed()).toMatchObject([
      { number: 4n, type: 'SETTLE', amount: 200n, reference: 'redeem 1', availableAfter: 600n, heldAfter: 200n },
      { number: 5n, type: 'RELEASE', amount: 40n, reference: 'rest', availableAfter: 640n, heldAfter: 160n },
      { number: 6n, type: 'SETTLE', amount: 100n, reference: 'redeem 3', availableAfter: 640n, heldAfter: 60n },
      { number: 7n, type: 'SETTLE', amount: 60n, reference: 'redeem 4', availableAfter: 640n, heldAfter: 0n },
    ]);
    expect(await balance(ledger.db(), other.owner)).toEqual({ available: 950n, held: 0n, total: 950n });
    expect(await findHold(ledger.db(), id)).toMatchObject({ settled: 60n, released: 40n, status: 'CLOSED' });
    expect(await findBrokenInvariants(ledger.db())).toEqual([]);
  });

  it('again move nothing, and only what is new beside it', async () => {
    const { owner, holdId } = await openHold(300n);
    const ends = [settled(holdId, 100n, 'redeem 1'), settled(holdId, 50n, 'redeem 2')];
    await endMany(ledger.db(), ends);
    const before = await everythingOf(ledger.db(), owner);
    await endMany(ledger.db(), ends);
    await endMany(ledger.db(), []);
    expect(await everythingOf(ledger.db(), owner)).toEqual(before);
    await endMany(ledger.db(), [...ends, settled(holdId, 150n, 'redeem 3')]);
    expect(await balance(ledger.db(), owner)).toEqual({ available: 700n, held: 0n, total: 700n });
    expect(await findBrokenInvariants(ledger.db())).toEqual([]);
  });

  it('are refused as a whole where one is more than remains, of another amount than before, or of no hold', async () => {
    const { owner, holdId } = await openHold(300n);
    await settle(ledger.db(), { holdId, amount: 100n, reference: 'redeem 1' });
    const good = settled(holdId, 1n, 'good');
    const together = (...ends: Parameters<typeof endMany>[1][number][]) =>
      ledger.db().tx((tx) => endMany(tx, [good, ...ends]));
    await expectRefusal(owner, () => together(settled(holdId, 200n, 'redeem 2')));
    await expectRefusal(owner, () => together(settled(holdId, 99n, 'redeem 1')));
    await expectRefusal(owner, () => together(settled('led_nothing', 1n, 'redeem 3')));
    await expectRefusal(owner, () => together(settled(holdId, 0n, 'redeem 4')));
    await expectRefusal(owner, () => together(good));
  });

  it('wait for each other, whatever the order of their environments', async () => {
    const [first, other] = [await openHold(300n), await openHold(300n)];
    const rounds = Array.from({ length: 20 }, (_, round) => round);
    await Promise.all(
      rounds.map((round) => {
        const ends = [settled(first.holdId, 10n, `a ${round >> 1}`), settled(other.holdId, 10n, `b ${round}`)];
        return endMany(ledger.db(), round % 2 ? ends : ends.toReversed());
      }),
    );
    expect(await findHold(ledger.db(), first.holdId)).toMatchObject({ settled: 100n });
    expect(await findHold(ledger.db(), other.holdId)).toMatchObject({ settled: 200n });
    expect(await findBrokenInvariants(ledger.db())).toEqual([]);
  });
});
