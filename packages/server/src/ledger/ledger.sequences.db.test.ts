import { sql } from '@svc/store';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newOwner, useDatabase } from '../../testing/database.ts';
import { findBrokenInvariants } from '../../testing/ledger.ts';
import { beginning, Model, OWNERS, operation, perform } from '../../testing/ledger-model.ts';
import { balance, findHold, type Hold, listEntries } from './ledger.ts';

const ledger = useDatabase();
const RUNS = 60;
const MAX_OPERATIONS = 40;

const newOwners = () => Promise.all(Array.from({ length: OWNERS }, () => newOwner(ledger.db())));

describe('any sequence of credits, reversals, holds, settlements and releases', () => {
  it('does exactly what a few numbers in memory would do', async () => {
    const sequences = fc.array(operation, { minLength: MAX_OPERATIONS / 2, maxLength: MAX_OPERATIONS });
    const property = fc.asyncProperty(sequences, async (operations) => {
      const db = ledger.db();
      const [model, owners, holds, seen] = [new Model(), await newOwners(), [] as Hold[], new Set<string>()];
      for (const next of [...beginning, ...operations]) {
        expect(await perform(db, owners, holds, seen, next)).toBe(model.apply(next));
      }
      for (const [index, owner] of owners.entries()) {
        const expected = model.balances[index];
        expect(await balance(db, owner)).toMatchObject({ available: expected?.available, held: expected?.held });
        const { entries, total } = await listEntries(db, owner, { limit: 1, offset: 0 });
        expect(total).toBe(expected?.entries);
        if (entries[0]) expect(entries[0]).toMatchObject({ availableAfter: expected?.available });
      }
      const stored = await Promise.all(holds.map(({ id }) => findHold(db, id)));
      expect(stored.map((hold) => [hold?.amount, hold?.settled, hold?.released, hold?.status])).toEqual(
        model.holds.map(({ amount, settled, released }) => [
          amount,
          settled,
          released,
          settled + released === amount ? 'CLOSED' : 'OPEN',
        ]),
      );
    });
    await fc.assert(property, { numRuns: RUNS });
    expect(await findBrokenInvariants(ledger.db())).toEqual([]);
    const { total } = (await ledger.db().one<{ total: string }>(sql`
      select coalesce(sum(amount_micros), 0) as total from ledger_postings`)) ?? { total: undefined };
    expect(total).toBe('0');
  });
});
