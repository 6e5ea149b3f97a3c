import { describe, expect, it } from 'vitest';
import { newOwner, useDatabase } from '../../testing/database.ts';
import { credit, hold, listEntries, release } from './ledger.ts';

const ledger = useDatabase();

describe('listEntries', () => {
  it('answers the newest first with the balances after each', async () => {
    const owner = await newOwner(ledger.db(), { credits: 100n });
    const { id } = await hold(ledger.db(), { ...owner, amount: 40n, reference: 'gift' });
    await release(ledger.db(), { holdId: id, reference: 'deleted' });
    const { entries, total } = await listEntries(ledger.db(), owner, { limit: 10, offset: 0 });
    expect(total).toBe(3);
    expect(entries.map(({ type, availableAfter, heldAfter }) => [type, availableAfter, heldAfter])).toEqual([
      ['RELEASE', 100n, 0n],
      ['HOLD', 60n, 40n],
      ['GRANT', 100n, 0n],
    ]);
  });

  it('walks through pages that together are every entry once, in one order', async () => {
    const owner = await newOwner(ledger.db());
    for (let i = 0; i < 11; i++) {
      await credit(ledger.db(), { ...owner, type: 'GRANT', amount: 1n, reference: `grant ${i}` });
    }
    const pages = await Promise.all(
      [0, 4, 8, 12, 1_000_000].map((offset) => listEntries(ledger.db(), owner, { limit: 4, offset })),
    );
    expect(pages.map(({ entries }) => entries.length)).toEqual([4, 4, 3, 0, 0]);
    expect(pages.map(({ total }) => total)).toEqual([11, 11, 11, 11, 11]);
    expect(pages.flatMap(({ entries }) => entries.map(({ number }) => Number(number)))).toEqual([
      11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1,
    ]);
  });

  it('shows nothing of another organisation or of the other environment', async () => {
    const development = await newOwner(ledger.db(), { credits: 5n });
    const production = { ...development, environment: 'production' } as const;
    await credit(ledger.db(), { ...production, type: 'DEPOSIT', amount: 6n, reference: '0xabc' });
    const other = await newOwner(ledger.db(), { credits: 7n });
    for (const [owner, amount] of [[development, 5n] as const, [production, 6n] as const, [other, 7n] as const]) {
      const { entries, total } = await listEntries(ledger.db(), owner, { limit: 10, offset: 0 });
      expect([total, entries.map((entry) => entry.amount)]).toEqual([1, [amount]]);
    }
    const nobody = { organizationId: 'org_nobody', environment: 'production' } as const;
    expect(await listEntries(ledger.db(), nobody, { limit: 10, offset: 0 })).toEqual({ entries: [], total: 0 });
  });

  it('numbers the entries of concurrent writers by the order in which they took effect', async () => {
    const owner = await newOwner(ledger.db());
    const grants = Array.from({ length: 20 }, (_, i) => ({ type: 'GRANT', amount: 1n, reference: `${i}` }) as const);
    await Promise.all(grants.map((grant) => credit(ledger.db(), { ...owner, ...grant })));
    const { entries } = await listEntries(ledger.db(), owner, { limit: 20, offset: 0 });
    expect(entries.map(({ availableAfter }) => Number(availableAfter))).toEqual(grants.map((_, i) => 20 - i));
  });
});
