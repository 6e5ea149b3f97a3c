import type { UsdMicros } from '@svc/protocol';
import { type Db, sql } from '@svc/store';
import { newId } from '../ids.ts';
import { type Entry, entryColumns, type LedgerOwner } from './entries.ts';

export interface Credit extends LedgerOwner {
  readonly type: 'DEPOSIT' | 'GRANT';
  readonly amount: UsdMicros;
  /** What the credits are for. The same type and reference never credit an environment twice. */
  readonly reference: string;
}

/** Adds credits once, however often it is asked: a repetition answers the first entry, whatever amount it names. */
export async function credit(tx: Db, what: Credit): Promise<{ entry: Entry; created: boolean }> {
  const { organizationId, environment, type, amount, reference } = what;
  const created = await tx.one<Entry>(sql`
    insert into ledger_entries (id, organization_id, environment, type, amount_micros, reference)
    values (${newId('led')}, ${organizationId}, ${environment}, ${type}, ${amount}, ${reference})
    on conflict (organization_id, environment, type, reference) where hold_id is null do nothing
    returning ${entryColumns}`);
  if (created) return { entry: created, created: true };
  const first = await tx.one<Entry>(sql`
    select ${entryColumns}
      from ledger_entries
     where organization_id = ${organizationId} and environment = ${environment}
       and type = ${type} and reference = ${reference} and hold_id is null`);
  if (!first) throw new Error(`The ${type} of ${reference} was neither stored nor found.`);
  return { entry: first, created: false };
}
