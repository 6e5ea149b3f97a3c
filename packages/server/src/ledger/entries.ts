import type { Environment, LedgerEntryType, UsdMicros } from '@svc/protocol';
import { type Db, type Sql, sql } from '@svc/store';

/** Each environment of an organisation has credits of its own. */
export interface LedgerOwner {
  readonly organizationId: string;
  readonly environment: Environment;
}

export interface Entry extends LedgerOwner {
  readonly id: string;
  /** Counts from 1 in its environment, without a gap. */
  readonly number: bigint;
  readonly type: LedgerEntryType;
  /** Always positive; the type says which way it went. */
  readonly amount: UsdMicros;
  readonly holdId: string | null;
  readonly reference: string;
  readonly availableAfter: UsdMicros;
  readonly heldAfter: UsdMicros;
  readonly createdAt: Date;
}

/** What a query answers to be read as an `Entry`. */
export const entryColumns: Sql = sql`
  id, number, organization_id as "organizationId", environment, type, amount_micros as amount, hold_id as "holdId",
  reference,
  available_before + ledger_posting(type, 'available', amount_micros) as "availableAfter",
  held_before + ledger_posting(type, 'held', amount_micros) as "heldAfter",
  created_at as "createdAt"`;

export interface EntryPage {
  readonly entries: readonly Entry[];
  readonly total: number;
}

/** Newest first. Because no number is missing, a page deep in the past costs no more than the first one. */
export async function listEntries(
  db: Db,
  { organizationId, environment }: LedgerOwner,
  page: { readonly limit: number; readonly offset: number },
): Promise<EntryPage> {
  const rows = await db.rows<{ total: bigint } & (Entry | { id: null })>(sql`
    select balances.entry_count as total, page.*
      from ledger_balances balances
      left join lateral (
        select ${entryColumns}
          from ledger_entries
         where organization_id = ${organizationId} and environment = ${environment}
           and number <= balances.entry_count - ${page.offset}
         order by number desc
         limit ${page.limit}
      ) page on true
     where balances.organization_id = ${organizationId} and balances.environment = ${environment}
     order by page.number desc`);
  return {
    entries: rows.flatMap(({ total: _, ...entry }) => (entry.id === null ? [] : [entry])),
    total: Number(rows[0]?.total ?? 0n),
  };
}
