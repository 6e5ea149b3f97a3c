import { sql } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { everythingOf, newOwner, useDatabase } from '../../testing/database.ts';
import { findBrokenInvariants } from '../../testing/ledger.ts';
import { balance, hold, release } from './ledger.ts';

const ledger = useDatabase();

describe('an entry that is written by hand', () => {
  it('moves the balances like one of the service, also with wrong figures', async () => {
    const owner = await newOwner(ledger.db(), { credits: 10n });
    await ledger.db().run(sql`
      insert into ledger_entries (id, organization_id, environment, type, amount_micros, reference,
                                  number, available_before, held_before, created_at)
      values ('led_by_hand', ${owner.organizationId}, ${owner.environment}, 'DEPOSIT', 5, 'by hand',
              77, 1000000, 1000000, '1970-01-01')`);
    expect(await balance(ledger.db(), owner)).toEqual({ available: 15n, held: 0n, total: 15n });
    expect(await findBrokenInvariants(ledger.db())).toEqual([]);
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
