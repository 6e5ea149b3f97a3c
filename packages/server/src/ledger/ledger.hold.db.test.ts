import { ApiError } from '@svc/protocol';
import type { Db } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { everythingOf, newOwner, useDatabase, whileOpen } from '../../testing/database.ts';
import { findBrokenInvariants } from '../../testing/ledger.ts';
import { balance, findHold, hold, listEntries } from './ledger.ts';

const ledger = useDatabase();

describe('hold', () => {
  it('moves credits from available to held under the id of its entry', async () => {
    const owner = await newOwner(ledger.db(), { credits: 1_000n });
    const taken = await hold(ledger.db(), { ...owner, amount: 400n, reference: 'gift' });
    expect(taken).toEqual({ ...owner, id: taken.id, amount: 400n, settled: 0n, released: 0n, status: 'OPEN' });
    expect(await findHold(ledger.db(), taken.id)).toEqual(taken);
    expect(await balance(ledger.db(), owner)).toEqual({ available: 600n, held: 400n, total: 1_000n });
    const { entries } = await listEntries(ledger.db(), owner, { limit: 1, offset: 0 });
    expect(entries).toMatchObject([
      { id: taken.id, holdId: taken.id, type: 'HOLD', reference: 'gift', availableAfter: 600n, heldAfter: 400n },
    ]);
  });

  it('may take the very last credit', async () => {
    const owner = await newOwner(ledger.db(), { credits: 5n });
    await hold(ledger.db(), { ...owner, amount: 5n, reference: 'gift' });
    expect((await balance(ledger.db(), owner)).available).toBe(0n);
  });

  it('may be taken twice for the same reference, as a gift that is prolonged does', async () => {
    const owner = await newOwner(ledger.db(), { credits: 10n });
    const [first, second] = [
      await hold(ledger.db(), { ...owner, amount: 5n, reference: 'gift' }),
      await hold(ledger.db(), { ...owner, amount: 5n, reference: 'gift' }),
    ];
    expect(first.id).not.toBe(second.id);
    expect((await balance(ledger.db(), owner)).held).toBe(10n);
  });

  it('short of credits says what is needed and what is there, and stores nothing', async () => {
    const owner = await newOwner(ledger.db(), { credits: 1_500_000n });
    const before = await everythingOf(ledger.db(), owner);
    const failure = hold(ledger.db(), { ...owner, amount: 501_000_001n, reference: 'gift' });
    await expect(failure).rejects.toBeInstanceOf(ApiError);
    await expect(failure).rejects.toMatchObject({
      code: 'insufficient_credits',
      message: 'This needs 501.000001 USD of credits, and 1.5 USD are available. Make a deposit first.',
    });
    expect(await everythingOf(ledger.db(), owner)).toEqual(before);
  });

  it("short of credits leaves the caller's transaction usable", async () => {
    const owner = await newOwner(ledger.db(), { credits: 10n });
    await ledger.db().tx(async (tx) => {
      await expect(hold(tx, { ...owner, amount: 11n, reference: 'too much' })).rejects.toThrow('This needs');
      await hold(tx, { ...owner, amount: 9n, reference: 'enough' });
    });
    expect(await balance(ledger.db(), owner)).toEqual({ available: 1n, held: 9n, total: 10n });
  });

  it('does not reach into the credits of the other environment or of held credits', async () => {
    const owner = await newOwner(ledger.db(), { credits: 10n });
    const production = { ...owner, environment: 'production' } as const;
    await expect(hold(ledger.db(), { ...production, amount: 1n, reference: 'gift' })).rejects.toThrow('and 0 USD');
    await hold(ledger.db(), { ...owner, amount: 10n, reference: 'gift' });
    await expect(hold(ledger.db(), { ...owner, amount: 1n, reference: 'gift' })).rejects.toThrow('and 0 USD');
  });

  it.each([0n, -5n])('refuses an amount of %s as a fault of ours', async (amount) => {
    const owner = await newOwner(ledger.db(), { credits: 10n });
    const before = await everythingOf(ledger.db(), owner);
    await expect(hold(ledger.db(), { ...owner, amount, reference: 'gift' })).rejects.not.toBeInstanceOf(ApiError);
    expect(await everythingOf(ledger.db(), owner)).toEqual(before);
  });

  it('refuses an organisation that does not exist', async () => {
    const nobody = { organizationId: 'org_nobody', environment: 'development' } as const;
    await expect(hold(ledger.db(), { ...nobody, amount: 1n, reference: 'r' })).rejects.toThrow('no environment');
    expect(await findHold(ledger.db(), 'led_nothing')).toBeUndefined();
  });

  it('counts with a hold that is being taken at the same moment', async () => {
    const owner = await newOwner(ledger.db(), { credits: 10_000_000n });
    const take = (db: Db) => hold(db, { ...owner, amount: 6_000_000n, reference: 'gift' });
    await expect(whileOpen(ledger.db(), take, () => take(ledger.db()))).rejects.toMatchObject({
      code: 'insufficient_credits',
      message: expect.stringContaining('and 4 USD are available'),
    });
  });

  it('from thirty callers at once never takes more than is available, and the others are refused', async () => {
    const owner = await newOwner(ledger.db(), { credits: 30n });
    const attempts = await Promise.allSettled(
      Array.from({ length: 30 }, () => hold(ledger.db(), { ...owner, amount: 9n, reference: 'gift' })),
    );
    const refusals = attempts.filter((attempt) => attempt.status === 'rejected').map(({ reason }) => reason.code);
    expect(refusals).toEqual(Array(27).fill('insufficient_credits'));
    expect(await balance(ledger.db(), owner)).toEqual({ available: 3n, held: 27n, total: 30n });
    expect(await findBrokenInvariants(ledger.db())).toEqual([]);
  });
});
