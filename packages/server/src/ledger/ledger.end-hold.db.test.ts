import { ApiError } from '@svc/protocol';
import type { Db } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { everythingOf, newOwner, useDatabase, whileOpen } from '../../testing/database.ts';
import { findBrokenInvariants } from '../../testing/ledger.ts';
import { balance, findHold, hold, type LedgerOwner, release, settle } from './ledger.ts';

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
