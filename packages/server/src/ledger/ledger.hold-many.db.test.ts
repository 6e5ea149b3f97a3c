import { sql } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { everythingOf, newOwner, useDatabase, whileOpen } from '../../testing/database.ts';
import { findBrokenInvariants } from '../../testing/ledger.ts';
import { balance, findHold, holdMany, listEntries, release } from './ledger.ts';

const { db } = useDatabase();
const wanted = (...amounts: bigint[]) => amounts.map((amount, place) => ({ amount, reference: `gift ${place}` }));

describe('holds that are taken together', () => {
  it('are an entry each, in the order given, and reserve their sum', async () => {
    const owner = await newOwner(db(), { credits: 100n });
    const ids = await holdMany(db(), owner, wanted(10n, 30n, 60n));
    const { entries } = await listEntries(db(), owner, { limit: 10, offset: 0 });
    expect(entries.slice(0, 3).reverse()).toMatchObject([
      { id: ids[0], type: 'HOLD', number: 2n, amount: 10n, reference: 'gift 0', availableAfter: 90n, heldAfter: 10n },
      { id: ids[1], type: 'HOLD', number: 3n, amount: 30n, reference: 'gift 1', availableAfter: 60n, heldAfter: 40n },
      { id: ids[2], type: 'HOLD', number: 4n, amount: 60n, reference: 'gift 2', availableAfter: 0n, heldAfter: 100n },
    ]);
    await release(db(), { holdId: ids[1] ?? '', reference: 'rest' });
    expect(await findHold(db(), ids[1] ?? '')).toMatchObject({ amount: 30n, released: 30n, status: 'CLOSED' });
    expect(await balance(db().reads, owner)).toEqual({ available: 30n, held: 70n, total: 100n });
    expect(await findBrokenInvariants(db())).toEqual([]);
  });

  it('are not taken at all where one millionth is missing', async () => {
    const owner = await newOwner(db(), { credits: 99n });
    const before = await everythingOf(db(), owner);
    const refused = holdMany(db(), owner, wanted(10n, 30n, 60n));
    await expect(refused).rejects.toMatchObject({ code: 'insufficient_credits' });
    await expect(refused).rejects.toThrow('needs 0.0001 USD of credits, and 0.000099 USD are available');
    expect(await everythingOf(db(), owner)).toEqual(before);
  });

  it('of an empty list do nothing', async () => {
    const owner = await newOwner(db());
    expect(await holdMany(db(), owner, [])).toEqual([]);
  });

  it('can be 500, and not more', async () => {
    const owner = await newOwner(db(), { credits: 500n });
    const many = Array.from({ length: 500 }, (_, place) => ({ amount: 1n, reference: `gift ${place}` }));
    await expect(holdMany(db(), owner, [...many, ...wanted(1n)])).rejects.toThrow('At most 500');
    expect(new Set(await holdMany(db(), owner, many)).size).toBe(500);
    expect(await balance(db().reads, owner)).toMatchObject({ available: 0n, held: 500n });
    expect(await findBrokenInvariants(db())).toEqual([]);
  });

  it('see what others took while they waited', async () => {
    const owner = await newOwner(db(), { credits: 100n });
    const late = whileOpen(
      db(),
      (tx) => holdMany(tx, owner, wanted(50n, 1n)),
      () => holdMany(db(), owner, wanted(25n, 25n)),
    );
    await expect(late).rejects.toMatchObject({ code: 'insufficient_credits' });
    expect(await balance(db().reads, owner)).toMatchObject({ available: 49n, held: 51n });
  });

  it('are refused for an environment that does not exist', async () => {
    const nobody = { organizationId: 'org_nobody', environment: 'development' as const };
    await expect(holdMany(db(), nobody, wanted(1n))).rejects.toThrow('has no environment development');
    expect(await db().rows(sql`select from ledger_entries where organization_id = 'org_nobody'`)).toEqual([]);
  });
});
