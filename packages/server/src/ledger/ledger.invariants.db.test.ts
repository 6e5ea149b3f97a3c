import { type Db, type Sql, sql } from '@svc/store';
import { beforeAll, describe, expect, it } from 'vitest';
import { newOwner, useDatabase } from '../../testing/database.ts';
import { findBrokenInvariants, type Violation } from '../../testing/ledger.ts';
import { hold, type LedgerOwner, release, settle } from './ledger.ts';

const ledger = useDatabase();
let owner: LedgerOwner;
let holdId: string;

beforeAll(async () => {
  owner = await newOwner(ledger.db(), { credits: 1_000n });
  holdId = (await hold(ledger.db(), { ...owner, amount: 300n, reference: 'gift' })).id;
  await settle(ledger.db(), { holdId, amount: 100n, reference: 'redeem' });
  const closed = await hold(ledger.db(), { ...owner, amount: 10n, reference: 'short' });
  await release(ledger.db(), { holdId: closed.id, reference: 'deleted' });
  await newOwner(ledger.db(), { credits: 5n });
});

class Undo extends Error {
  readonly violations: Violation[];
  constructor(violations: Violation[]) {
    super('undo');
    this.violations = violations;
  }
}

/** What the audit says of a ledger whose guards were taken away; everything is undone afterwards. */
async function auditAfter(...damage: Sql[]): Promise<Violation[]> {
  const work = ledger.db().tx(async (tx: Db): Promise<never> => {
    for (const table of ['ledger_balances', 'ledger_entries', 'ledger_holds']) await unguard(tx, table);
    for (const statement of damage) await tx.run(statement);
    throw new Undo(await findBrokenInvariants(tx));
  });
  return work.catch((error: unknown) => {
    if (error instanceof Undo) return error.violations;
    throw error;
  });
}

async function unguard(tx: Db, table: string): Promise<void> {
  await tx.run(sql`select set_config('svc.unguarded', ${table}, true)`);
  await tx.run(sql`
    do $$
    declare
      unguarded text := current_setting('svc.unguarded');
      checked name;
    begin
      execute format('alter table %I disable trigger user', unguarded);
      for checked in select conname from pg_constraint where conrelid = unguarded::regclass and contype = 'c' loop
        execute format('alter table %I drop constraint %I', unguarded, checked);
      end loop;
    end $$`);
}

const mine = () => sql`organization_id = ${owner.organizationId} and environment = ${owner.environment}`;

const broken = (violations: Violation[]) => violations.map(({ invariant, subject }) => [invariant, subject]);

describe('findBrokenInvariants', () => {
  it('finds nothing in a sound ledger', async () => {
    expect(await findBrokenInvariants(ledger.db())).toEqual([]);
    expect(await auditAfter()).toEqual([]);
  });

  it('names the organisation, the environment and the account of a changed balance', async () => {
    const found = await auditAfter(sql`update ledger_balances set available = available + 1 where ${mine()}`);
    expect(found).toEqual([{ ...owner, invariant: 'a balance is the sum of its postings', subject: 'available' }]);
  });

  it('finds a balance below zero', async () => {
    const found = await auditAfter(sql`update ledger_balances set spent = -1 where ${mine()}`);
    expect(broken(found)).toContainEqual(['no balance crosses zero', 'spent']);
  });

  it('finds held credits without a hold', async () => {
    const found = await auditAfter(sql`update ledger_balances set held = held + 1 where ${mine()}`);
    expect(broken(found)).toContainEqual(['the held credits are those of the open holds', 'held']);
  });

  it('finds a deleted entry, in the middle and at the end', async () => {
    const middle = await auditAfter(sql`delete from ledger_entries where ${mine()} and number = 3`);
    expect(broken(middle)).toContainEqual(['entries are numbered without a gap', 'entry 3']);
    expect(broken(middle)).toContainEqual(['a hold is what its entries say', holdId]);
    const last = await auditAfter(sql`delete from ledger_entries where ${mine()} and number = 5`);
    expect(broken(last)).toContainEqual(['entries are numbered without a gap', 'entry 5']);
  });

  it('finds a changed entry by the one that follows it', async () => {
    const found = await auditAfter(sql`
      update ledger_entries set amount_micros = amount_micros + 1 where ${mine()} and number = 3`);
    expect(broken(found)).toContainEqual(['a hold is what its entries say', holdId]);
    expect(broken(found).map(([invariant]) => invariant)).toContain('an entry begins where the one before it ended');
  });

  it('finds an entry whose postings do not balance', async () => {
    const found = await auditAfter(sql`update ledger_entries set type = 'BONUS' where id = ${holdId}`);
    expect(broken(found)).toContainEqual(['the postings of an entry sum to zero', holdId]);
  });

  it('finds a hold that was changed, overdrawn or lost', async () => {
    const changed = await auditAfter(sql`update ledger_holds set settled_micros = 0 where id = ${holdId}`);
    expect(broken(changed)).toContainEqual(['a hold is what its entries say', holdId]);
    const overdrawn = await auditAfter(sql`update ledger_holds set settled_micros = 301 where id = ${holdId}`);
    expect(broken(overdrawn)).toContainEqual(['a hold ends once', holdId]);
    const lost = await auditAfter(sql`delete from ledger_holds where id = ${holdId}`);
    expect(broken(lost)).toContainEqual(['a hold is what its entries say', holdId]);
  });
});
