import { ApiError, formatUsd, type UsdMicros } from '@svc/protocol';
import { type Db, sql } from '@svc/store';
import { newId } from '../ids.ts';
import { type Entry, entryColumns, type LedgerOwner } from './entries.ts';

export interface Hold extends LedgerOwner {
  /** Also the id of the ledger entry that took the hold. */
  readonly id: string;
  readonly amount: UsdMicros;
  readonly settled: UsdMicros;
  readonly released: UsdMicros;
  /** CLOSED exactly when everything is settled or released; it never opens again. */
  readonly status: 'OPEN' | 'CLOSED';
}

export interface NewHold extends LedgerOwner {
  readonly amount: UsdMicros;
  readonly reference: string;
}

/** Reserves available credits, or throws `insufficient_credits`; the caller's transaction stays usable either way. */
export async function hold(tx: Db, { organizationId, environment, amount, reference }: NewHold): Promise<Hold> {
  const row = await tx.one<{ funds: UsdMicros } & (Entry | { id: null })>(sql`
    with funds as (
      select available
        from ledger_balances
       where organization_id = ${organizationId} and environment = ${environment}
         for no key update
    ), entry as (
      insert into ledger_entries (id, organization_id, environment, type, amount_micros, reference)
      select ${newId('led')}, ${organizationId}, ${environment}, 'HOLD', ${amount}, ${reference}
        from funds
       where available >= ${amount}
      returning ${entryColumns}
    )
    select funds.available as funds, entry.* from funds left join entry on true`);
  if (!row) throw new Error(`Organisation ${organizationId} has no environment ${environment}.`);
  if (row.id === null) throw insufficientCredits(amount, row.funds);
  return { id: row.id, organizationId, environment, amount, settled: 0n, released: 0n, status: 'OPEN' };
}

export async function findHold(db: Db, id: string): Promise<Hold | undefined> {
  return db.one<Hold>(sql`
    select id, organization_id as "organizationId", environment, amount_micros as amount, settled_micros as settled,
           released_micros as released, status
      from ledger_holds
     where id = ${id}`);
}

export function insufficientCredits(needed: UsdMicros, available: UsdMicros): ApiError {
  return new ApiError(
    'insufficient_credits',
    `This needs ${formatUsd(needed)} USD of credits, and ${formatUsd(available)} USD are available. ` +
      'Make a deposit first.',
  );
}
