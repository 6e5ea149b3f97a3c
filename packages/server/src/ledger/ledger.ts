import {
  ApiError,
  type Environment,
  formatUsd,
  type LedgerEntry,
  type LedgerEntryType,
  type UsdMicros,
  usdToNumber,
} from '@svc/protocol';
import { type Db, type Reads, type Sql, sql } from '@svc/store';
import { newId } from '../util/ids.ts';

export interface LedgerOwner {
  readonly organizationId: string;
  readonly environment: Environment;
}

export interface Entry extends LedgerOwner {
  readonly id: string;
  /** From 1 in its environment, without a gap. */
  readonly number: bigint;
  readonly type: LedgerEntryType;
  /** Positive; the type gives the direction. */
  readonly amount: UsdMicros;
  readonly holdId: string | null;
  readonly reference: string;
  readonly availableAfter: UsdMicros;
  readonly heldAfter: UsdMicros;
  readonly createdAt: Date;
}

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

/** Newest first. Numbers have no gap, so a deep page costs no more than the first. */
export async function listEntries(
  db: Reads,
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

export interface CreditBalance {
  readonly available: UsdMicros;
  readonly held: UsdMicros;
  readonly total: UsdMicros;
}

export async function balance(db: Reads, { organizationId, environment }: LedgerOwner): Promise<CreditBalance> {
  const row = await db.one<CreditBalance>(sql`
    select available, held, available + held as total
      from ledger_balances
     where organization_id = ${organizationId} and environment = ${environment}`);
  if (!row) throw new Error(`Organisation ${organizationId} has no environment ${environment}.`);
  return row;
}

export interface Credit extends LedgerOwner {
  readonly type: 'DEPOSIT' | 'GRANT';
  readonly amount: UsdMicros;
  /** The same type and reference credit an environment once. */
  readonly reference: string;
}

/** Idempotent: a repetition returns the first entry. */
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

export interface Reversal extends LedgerOwner {
  readonly amount: UsdMicros;
  /** Every reversal of an environment has its own. */
  readonly reference: string;
}

/** Takes credits back: the amount, or as much of it as is available. Undefined where nothing is. */
export function reverse(
  tx: Db,
  { organizationId, environment, amount, reference }: Reversal,
): Promise<Entry | undefined> {
  return tx.one<Entry>(sql`
    with funds as (
      select available
        from ledger_balances
       where organization_id = ${organizationId} and environment = ${environment}
         for no key update
    )
    insert into ledger_entries (id, organization_id, environment, type, amount_micros, reference)
    select ${newId('led')}, ${organizationId}, ${environment}, 'REVERSAL', least(available, ${amount}::bigint), ${reference}
      from funds
     where available > 0
    returning ${entryColumns}`);
}

export interface Hold extends LedgerOwner {
  readonly id: string;
  readonly amount: UsdMicros;
  readonly settled: UsdMicros;
  readonly released: UsdMicros;
  /** CLOSED when all is settled or released; never reopened. */
  readonly status: 'OPEN' | 'CLOSED';
}

export interface NewHold extends LedgerOwner {
  readonly amount: UsdMicros;
  readonly reference: string;
}

/** Throws `insufficient_credits`; the caller's transaction stays usable. */
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

const MAX_HOLDS_AT_ONCE = 500;

export interface HoldRequest {
  readonly amount: UsdMicros;
  readonly reference: string;
}

/** All, or `insufficient_credits`. Returns the ids in the given order. */
export async function holdMany(
  tx: Db,
  { organizationId, environment }: LedgerOwner,
  holds: readonly HoldRequest[],
): Promise<string[]> {
  if (holds.length === 0) return [];
  if (holds.length > MAX_HOLDS_AT_ONCE)
    throw new RangeError(`At most ${MAX_HOLDS_AT_ONCE} holds can be taken at once.`);
  const ids = holds.map(() => newId('led'));
  const amounts = holds.map(({ amount }) => amount);
  const references = holds.map(({ reference }) => reference);
  const row = await tx.one<{ funds: UsdMicros | null }>(sql`
    select ledger_hold_many(${organizationId}, ${environment}, ${ids}, ${amounts}, ${references}) as funds`);
  const funds = row?.funds ?? undefined;
  if (funds === undefined) throw new Error(`Organisation ${organizationId} has no environment ${environment}.`);
  const needed = amounts.reduce((sum, amount) => sum + amount, 0n);
  if (needed > funds) throw insufficientCredits(needed, funds);
  return ids;
}

export interface Ending {
  readonly holdId: string;
  readonly amount: UsdMicros;
  /** Idempotency key: a repetition returns the first entry and moves nothing. */
  readonly reference: string;
}

/** Spends a part of a hold. More than remains, or a closed hold, is a bug: it throws. */
export function settle(tx: Db, { holdId, amount, reference }: Ending): Promise<Entry> {
  return end(tx, 'SETTLE', holdId, amount, reference);
}

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
  // The remainder is read in the database, under its lock.
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

/** Settles and releases parts of many holds in one statement, an entry each. Like `settle` and `release` when repeated. */
export async function endMany(
  tx: Db,
  endings: readonly (Ending & { readonly type: 'SETTLE' | 'RELEASE' })[],
): Promise<void> {
  if (endings.length === 0) return;
  const ids = endings.map(() => newId('led'));
  const [types, holds] = [endings.map(({ type }) => type), endings.map(({ holdId }) => holdId)];
  const [amounts, references] = [endings.map(({ amount }) => amount), endings.map(({ reference }) => reference)];
  const row = await tx.one<{ written: bigint }>(sql`
    select ledger_end_many(${ids}, ${types}, ${holds}, ${amounts}::bigint[], ${references}) as written`);
  if (row?.written === BigInt(endings.length)) return;
  const [wrong] = await tx.rows<Ending>(sql`
    select wanted.hold_id as "holdId", wanted.reference
      from unnest(${types}::text[], ${holds}::text[], ${amounts}::bigint[], ${references}::text[])
           as wanted (type, hold_id, amount, reference)
      left join ledger_entries entry on entry.hold_id = wanted.hold_id and entry.type = wanted.type
       and entry.reference = wanted.reference
     where entry.amount_micros is distinct from wanted.amount
     limit 1`);
  if (wrong) {
    throw new Error(`Hold ${wrong.holdId} does not exist, or has ended with another amount for ${wrong.reference}.`);
  }
}

export function toLedgerEntry(entry: Entry): LedgerEntry {
  return {
    id: entry.id,
    type: entry.type,
    amountUsd: usdToNumber(entry.amount),
    availableUsd: usdToNumber(entry.availableAfter),
    heldUsd: usdToNumber(entry.heldAfter),
    holdId: entry.holdId,
    reference: entry.reference,
    createdAt: entry.createdAt.toISOString(),
  };
}
