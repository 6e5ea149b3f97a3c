import { sql } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { everythingOf, newOwner, useDatabase } from '../../testing/database.ts';
import { findBrokenInvariants } from '../../testing/ledger.ts';
import { newId } from '../util/ids.ts';
import { balance, hold, type LedgerOwner, listEntries, release } from './ledger.ts';

const ledger = useDatabase();

describe('an entry that is written by hand', () => {
  const byHand = (owner: LedgerOwner, number: bigint | null, availableBefore: bigint | null) =>
    ledger.db().run(sql`
      insert into ledger_entries (id, organization_id, environment, type, amount_micros, reference,
                                  number, available_before, held_before, created_at)
      values (${newId('led')}, ${owner.organizationId}, ${owner.environment}, 'DEPOSIT', 5, 'by hand',
              ${number}::bigint, ${availableBefore}::bigint, 0, '1970-01-01')`);

  it.each([null, 2n])(
    'moves the balances like one of the service (number %s), at a time that is not its own',
    async (number) => {
      const owner = await newOwner(ledger.db(), { credits: 10n });
      await byHand(owner, number, 10n);
      expect(await balance(ledger.db(), owner)).toEqual({ available: 15n, held: 0n, total: 15n });
      const [newest] = (await listEntries(ledger.db(), owner, { limit: 1, offset: 0 })).entries;
      expect(newest?.createdAt.getUTCFullYear()).toBeGreaterThan(2000);
      expect(await findBrokenInvariants(ledger.db())).toEqual([]);
    },
  );

  it.each([
    [1n, 10n],
    [3n, 10n],
    [77n, 10n],
    [2n, 9n],
    [2n, 1_000_000n],
  ])(
    'is refused with figures that do not continue those before it: number %s, available %s',
    async (number, available) => {
      const owner = await newOwner(ledger.db(), { credits: 10n });
      const before = await everythingOf(ledger.db(), owner);
      await expect(byHand(owner, number, available)).rejects.toThrow(/do not continue|ledger_entries_number/);
      expect(await everythingOf(ledger.db(), owner)).toEqual(before);
    },
  );

  it('and takes a hold is refused with the id of another hold', async () => {
    const owner = await newOwner(ledger.db(), { credits: 10n });
    const { id } = await hold(ledger.db(), { ...owner, amount: 4n, reference: 'gift' });
    const before = await everythingOf(ledger.db(), owner);
    const write = ledger.db().run(sql`
      insert into ledger_entries (id, organization_id, environment, type, amount_micros, reference, hold_id,
                                  number, available_before, held_before)
      values (${newId('led')}, ${owner.organizationId}, ${owner.environment}, 'HOLD', 5, 'by hand', ${id}, 3, 6, 4)`);
    await expect(write).rejects.toThrow('ledger_entries_own_hold');
    expect(await everythingOf(ledger.db(), owner)).toEqual(before);
  });

  it('and dropped because it exists already moves nothing', async () => {
    const owner = await newOwner(ledger.db(), { credits: 10n });
    const before = await everythingOf(ledger.db(), owner);
    const stored = await ledger.db().run(sql`
      insert into ledger_entries (id, organization_id, environment, type, amount_micros, reference)
      select id, organization_id, environment, 'DEPOSIT', 5, 'by hand'
        from ledger_entries where organization_id = ${owner.organizationId}
      on conflict do nothing`);
    expect(stored).toBe(0);
    expect(await everythingOf(ledger.db(), owner)).toEqual(before);
  });
});

describe('a closed hold', () => {
  it('stays closed even for a foreign trigger', async () => {
    const owner = await newOwner(ledger.db(), { credits: 10n });
    const { id } = await hold(ledger.db(), { ...owner, amount: 10n, reference: 'gift' });
    await release(ledger.db(), { holdId: id, reference: 'deleted' });
    const attack = ledger.db().tx(async (tx) => {
      await tx.run(sql`create table elsewhere (hold_id text)`);
      await tx.run(sql`
        create function reopen() returns trigger language plpgsql as $$
        begin
          update ledger_holds set released_micros = 0 where id = new.hold_id;
          return new;
        end $$`);
      await tx.run(sql`create trigger reopen before insert on elsewhere for each row execute function reopen()`);
      await tx.run(sql`insert into elsewhere values (${id})`);
    });
    await expect(attack).rejects.toThrow('a hold ends once');
  });
});
