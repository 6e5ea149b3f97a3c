import type { UsdMicros } from '@svc/protocol';
import { type Db, sql } from '@svc/store';
import { newId } from '../ids.ts';
import { type Entry, entryColumns } from './entries.ts';

export interface Ending {
  readonly holdId: string;
  readonly amount: UsdMicros;
  /** What caused it. The same again answers the first entry and moves nothing, as a retry after a crash needs. */
  readonly reference: string;
}

/** Spends a part of a hold. More than remains, or a closed hold, is a fault of ours: it throws and nothing changes. */
export function settle(tx: Db, { holdId, amount, reference }: Ending): Promise<Entry> {
  return end(tx, 'SETTLE', holdId, amount, reference);
}

/** Gives a part of a hold back, or all that remains where no amount is named. Otherwise like `settle`. */
export function release(tx: Db, what: Omit<Ending, 'amount'> & Partial<Pick<Ending, 'amount'>>): Promise<Entry> {
  return end(tx, 'RELEASE', what.holdId, what.amount, what.reference);
}

async function end(
  tx: Db,
  type: 'SETTLE' | 'RELEASE',
  holdId: string,
  amount: UsdMicros | undefined,
  reference: string,
): Promise<Entry> {
  // Without an amount the database fills in what remains, because only there it is read under the lock.
  const written = await tx.one<Entry>(sql`
    insert into ledger_entries (id, organization_id, environment, type, amount_micros, hold_id, reference)
    select ${newId('led')}, organization_id, environment, ${type}, ${amount ?? null}, id, ${reference}
      from ledger_holds
     where id = ${holdId}
    on conflict (hold_id, type, reference) where hold_id is not null do nothing
    returning ${entryColumns}`);
  if (written) return written;
  const first = await tx.one<Entry>(sql`
    select ${entryColumns}
      from ledger_entries
     where hold_id = ${holdId} and type = ${type} and reference = ${reference}`);
  if (!first) throw new Error(`Hold ${holdId} does not exist or has nothing left for the ${type} of ${reference}.`);
  if (amount !== undefined && amount !== first.amount) {
    throw new Error(`The ${type} of ${reference} on hold ${holdId} was ${first.amount} micros before, not ${amount}.`);
  }
  return first;
}
