import { describe, expect, it } from 'vitest';
import { everythingOf, newOwner, useDatabase } from '../../testing/database.ts';
import { balance, credit, listEntries } from './ledger.ts';

const ledger = useDatabase();

describe('credit', () => {
  it('adds a deposit to the available credits and answers its entry', async () => {
    const owner = await newOwner(ledger.db());
    const { entry, created } = await credit(ledger.db(), {
      ...owner,
      type: 'DEPOSIT',
      amount: 2_500_000n,
      reference: '0xabc',
    });
    expect(created).toBe(true);
    expect(entry).toMatchObject({
      ...owner,
      number: 1n,
      type: 'DEPOSIT',
      amount: 2_500_000n,
      holdId: null,
      reference: '0xabc',
      availableAfter: 2_500_000n,
      heldAfter: 0n,
    });
    expect(entry.id).toMatch(/^led_/);
    expect(await balance(ledger.db(), owner)).toEqual({ available: 2_500_000n, held: 0n, total: 2_500_000n });
  });

  it('credits the same type and reference once and answers the first entry again', async () => {
    const owner = await newOwner(ledger.db());
    const deposit = { ...owner, type: 'DEPOSIT', amount: 100n, reference: '0xabc' } as const;
    const first = await credit(ledger.db(), deposit);
    expect(await credit(ledger.db(), deposit)).toEqual({ entry: first.entry, created: false });
    expect(await credit(ledger.db(), { ...deposit, amount: 999n })).toEqual({ entry: first.entry, created: false });
    expect((await balance(ledger.db(), owner)).total).toBe(100n);
  });

  it('keeps a deposit and a grant of the same reference apart', async () => {
    const owner = await newOwner(ledger.db());
    for (const type of ['DEPOSIT', 'GRANT'] as const) {
      expect((await credit(ledger.db(), { ...owner, type, amount: 5n, reference: 'same' })).created).toBe(true);
    }
    expect((await balance(ledger.db(), owner)).available).toBe(10n);
  });

  it('credits one environment without a trace in the other', async () => {
    const development = await newOwner(ledger.db());
    const production = { ...development, environment: 'production' } as const;
    await credit(ledger.db(), { ...development, type: 'GRANT', amount: 7n, reference: 'r' });
    expect(await balance(ledger.db(), production)).toEqual({ available: 0n, held: 0n, total: 0n });
    expect(await listEntries(ledger.db(), production, { limit: 10, offset: 0 })).toEqual({ entries: [], total: 0 });
    expect((await credit(ledger.db(), { ...production, type: 'GRANT', amount: 9n, reference: 'r' })).created).toBe(
      true,
    );
    expect((await balance(ledger.db(), development)).available).toBe(7n);
  });

  it('credits one deposit once when twenty callers bring it at the same time', async () => {
    const owner = await newOwner(ledger.db());
    const deposit = { ...owner, type: 'DEPOSIT', amount: 100n, reference: '0xabc' } as const;
    const answers = await Promise.all(Array.from({ length: 20 }, () => credit(ledger.db(), deposit)));
    expect(answers.filter(({ created }) => created)).toHaveLength(1);
    expect(new Set(answers.map(({ entry }) => entry.id)).size).toBe(1);
    expect((await balance(ledger.db(), owner)).total).toBe(100n);
  });

  it.each([0n, -1n, 2n ** 63n])('refuses an amount of %s and changes nothing', async (amount) => {
    const owner = await newOwner(ledger.db(), { credits: 50n });
    const before = await everythingOf(ledger.db(), owner);
    await expect(credit(ledger.db(), { ...owner, type: 'GRANT', amount, reference: 'r' })).rejects.toThrow();
    expect(await everythingOf(ledger.db(), owner)).toEqual(before);
  });

  it('refuses an organisation that does not exist', async () => {
    const nobody = { organizationId: 'org_nobody', environment: 'development' } as const;
    await expect(credit(ledger.db(), { ...nobody, type: 'GRANT', amount: 1n, reference: 'r' })).rejects.toThrow(
      'no environment',
    );
    await expect(balance(ledger.db(), nobody)).rejects.toThrow('no environment');
  });

  it("disappears with the caller's transaction", async () => {
    const owner = await newOwner(ledger.db());
    const work = ledger.db().tx(async (tx) => {
      await credit(tx, { ...owner, type: 'GRANT', amount: 1n, reference: 'r' });
      expect((await balance(tx, owner)).available).toBe(1n);
      throw new Error('the caller changed its mind');
    });
    await expect(work).rejects.toThrow('changed its mind');
    expect((await balance(ledger.db(), owner)).available).toBe(0n);
    expect((await listEntries(ledger.db(), owner, { limit: 1, offset: 0 })).total).toBe(0);
  });
});
