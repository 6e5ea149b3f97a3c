import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newOwner, useDatabase } from '../../testing/database.ts';
import { findBrokenInvariants } from '../../testing/ledger.ts';
import { beginning, OWNERS, operation, perform } from '../../testing/ledger-model.ts';
import { balance, findHold, type Hold, hold, listEntries, settle } from './ledger.ts';

const ledger = useDatabase();
const RUNS = 30;
const MAX_OPERATIONS = 60;

async function scene() {
  const db = ledger.db();
  const owners = await Promise.all(Array.from({ length: OWNERS }, () => newOwner(db)));
  const holds: Hold[] = [];
  for (const next of beginning) await perform(db, owners, holds, new Set(), next);
  return { db, owners, holds };
}

describe('credits, holds, settlements and releases that run at the same time', () => {
  it('leave a sound ledger in which each has happened once or not at all', async () => {
    const many = fc.array(operation, { minLength: 20, maxLength: MAX_OPERATIONS });
    const property = fc.asyncProperty(many, async (operations) => {
      const { db, owners, holds } = await scene();
      const seen = new Set<string>();
      const outcomes = await Promise.all(operations.map((next) => perform(db, owners, holds, seen, next)));
      const totals = await Promise.all(owners.map((owner) => listEntries(db, owner, { limit: 1, offset: 0 })));
      const done = beginning.length + outcomes.filter((outcome) => outcome === 'done').length;
      expect(totals.reduce((sum, { total }) => sum + total, 0)).toBe(done);
      const ends = await Promise.all(holds.map(({ id }) => findHold(db, id)));
      for (const end of ends) {
        if (!end) throw new Error('A hold disappeared.');
        expect(end.settled + end.released).toBeLessThanOrEqual(end.amount);
      }
      for (const owner of owners) {
        const { available, held } = await balance(db, owner);
        expect([available >= 0n, held >= 0n]).toEqual([true, true]);
      }
    });
    await fc.assert(property, { numRuns: RUNS });
    expect(await findBrokenInvariants(ledger.db())).toEqual([]);
  });

  it('never deadlock, in any order of the holds of an environment', async () => {
    const db = ledger.db();
    const owner = await newOwner(db, { credits: 1_000n });
    const holds: Hold[] = [];
    for (let i = 0; i < 6; i++) holds.push(await hold(db, { ...owner, amount: 100n, reference: `gift ${i}` }));
    const orders = fc.sample(fc.shuffledSubarray(holds, { minLength: 4 }), 40);
    await Promise.all(
      orders.map((order, caller) =>
        db.tx(async (tx) => {
          for (const { id } of order) await settle(tx, { holdId: id, amount: 1n, reference: `redeem ${caller}` });
          await hold(tx, { ...owner, amount: 1n, reference: `gift of ${caller}` });
        }),
      ),
    );
    const settled = BigInt(orders.reduce((sum, order) => sum + order.length, 0));
    expect(await balance(db, owner)).toMatchObject({ available: 360n, held: 640n - settled });
    expect(await findBrokenInvariants(db)).toEqual([]);
  });
});
