import {
  type AnswerOf,
  ApiError,
  type endpoints,
  parseEvmAddress,
  parseStarknetAddress,
  type QueryOf,
  type StarknetAddress,
  type Transaction,
} from '@svc/protocol';
import { type Db, type Reads, type Sql, sql } from '@svc/store';
import {
  type Caller,
  type CursorPageOf,
  microsOf,
  olderThan,
  type PageOf,
  type PageQuery,
  type Place,
  readCursor,
  readPage,
  toCursorPage,
  toPage,
} from '../http/call.ts';
import { readAddress, readTimeRange, refuse } from '../http/validation.ts';
import { requireWallet, walletsOfUser } from '../wallets/wallet.ts';
import { type FindDeps, find } from './get-transaction.ts';
import { fromRow, type Row, recordColumns, type TransactionRecord, toTransaction } from './record.ts';
import type { RecordOwner } from './record-store.ts';

/** Unix milliseconds; `to` is exclusive. */
export interface Period {
  readonly from: number;
  readonly before: number;
}

export const ALWAYS: Period = { from: Number.NEGATIVE_INFINITY, before: Number.POSITIVE_INFINITY };

interface HistoryQuery {
  readonly address: string;
  readonly functionName: string | undefined;
  readonly period: Period;
  readonly limit: number;
  readonly offset: number;
}

interface HistoryPage {
  readonly records: TransactionRecord[];
  readonly total: number;
}

/** Newest first. The counts say how many entries are newer than each place, so a deep page walks only from the nearest place. */
export async function readHistory(
  reads: Reads,
  { organizationId, environment }: RecordOwner,
  { address, functionName, period, limit, offset }: HistoryQuery,
): Promise<HistoryPage> {
  const history = sql`history_key(${organizationId}, ${environment}, ${address})`;
  const called = functionName === undefined ? sql`` : sql`and function_name = ${functionName}`;
  const from = moment(period.from);
  const before = moment(period.before);
  const rows = await reads.rows<{ total: bigint } & (Row | { id: null })>(sql`
    with place as materialized (${placesOf(history, functionName)}),
    bounds as materialized (
      select ${entriesSince(from, history, called)} as since_from, ${entriesSince(before, history, called)} as since_before
    ),
    start as (
      select at, id, since_before + ${offset}::bigint - newer as skipped
        from bounds cross join lateral (
          select at, id, newer from place where newer <= since_before + ${offset}::bigint
          union all select ${before}, '', since_before
        ) known
       order by newer desc, at, id limit 1
    ),
    page as (
      select transaction_id from start cross join lateral (
        select transaction_id from transaction_history
         where history = ${history} ${called}
           and created_at >= ${from} and (created_at, transaction_id) < (start.at, start.id)
         order by created_at desc, transaction_id desc
        offset start.skipped limit ${limit}
      ) entry
    )
    select since_from - since_before as total, record.*
      from bounds left join lateral (
        select ${recordColumns} from page join transactions on transactions.id = page.transaction_id
         where organization_id = ${organizationId} and environment = ${environment}
      ) record on true
     order by "createdAt" desc, id desc`);
  return {
    records: rows.flatMap(({ total: _, ...row }) => (row.id === null ? [] : [fromRow(row)])),
    total: Number(rows[0]?.total ?? 0n),
  };
}

const moment = (ms: number): Sql => sql`to_timestamp(${ms / 1000}::double precision)`;

function placesOf(history: Sql, functionName: string | undefined): Sql {
  const called = functionName === undefined ? sql`` : sql`and function_name = ${functionName}`;
  return sql`
    select at, id, newer from (
      select at, id, counted, sum(entries) over (order by at desc, id desc) as newer from (
        select from_created_at as at, from_id as id, entries, true as counted
          from transaction_history_counts where history = ${history} and function_name = ${functionName ?? ''}
        union all
        select created_at, transaction_id, 1, false
          from transaction_history_uncounted where history = ${history} ${called}
        union all
        select 'infinity', '', 0, true
      ) part
    ) summed where counted`;
}

/** Entries from the next counted place on, plus those before it. */
function entriesSince(at: Sql, history: Sql, called: Sql): Sql {
  return sql`(
    select next.newer + (
      select count(*) from transaction_history
       where history = ${history} ${called}
         and created_at >= ${at} and (created_at, transaction_id) < (next.at, next.id))
      from (select at, id, newer from place where at >= ${at} order by at, id limit 1) next
  )`;
}

interface CountSizes {
  /** Entries per transaction: a fraction of a second, so that the job can be stopped in between. */
  readonly batch: number;
  /** A deep page walks at most this many. A larger place is split in half. */
  readonly entriesAPlace: number;
}

const SIZES: CountSizes = { batch: 5_000, entriesAPlace: 1_000 };
const MAX_BATCHES = 200;

export async function countHistory(db: Db, signal?: AbortSignal, sizes = SIZES): Promise<number> {
  let counted = 0;
  for (let batch = 0; batch < MAX_BATCHES && !signal?.aborted; batch++) {
    const entries = await db.tx((tx) => countBatch(tx, sizes));
    counted += entries;
    if (entries < sizes.batch) break;
  }
  return counted;
}

/** Time as text: a Date is less exact. */
interface CountPlace {
  readonly history: string;
  readonly functionName: string;
  readonly at: string;
  readonly id: string;
  readonly entries: number;
}

async function countBatch(tx: Db, { batch, entriesAPlace }: CountSizes): Promise<number> {
  const lock = await tx.one<{ held: boolean }>(sql`
    select pg_try_advisory_xact_lock(hashtextextended('svc count history', 0)) as held`);
  if (!lock?.held) return 0;
  const places = await tx.rows<CountPlace & { taken: bigint }>(sql`
    with taken as (
      delete from transaction_history_uncounted
       where ctid = any (array(select ctid from transaction_history_uncounted limit ${batch}))
      returning history, created_at, transaction_id, function_name
    ),
    entry as (
      select history, name as function_name, created_at, transaction_id
        from taken cross join lateral unnest(array['', function_name]) as name where name is not null
    )
    insert into transaction_history_counts as counts (history, function_name, from_created_at, from_id, entries)
    select entry.history, entry.function_name, coalesce(place.at, '-infinity'), coalesce(place.id, ''), count(*)
      from entry left join lateral (
        select from_created_at as at, from_id as id from transaction_history_counts known
         where known.history = entry.history and known.function_name = entry.function_name
           and (from_created_at, from_id) <= (entry.created_at, entry.transaction_id)
         order by from_created_at desc, from_id desc limit 1
      ) place on true
     group by 1, 2, 3, 4
    on conflict (history, function_name, from_created_at, from_id)
      do update set entries = counts.entries + excluded.entries
    returning history, function_name as "functionName", from_created_at::text as at, from_id as id, entries,
      (select count(*) from taken) as taken`);
  for (const place of places) {
    if (place.entries > entriesAPlace) await split(tx, place, Math.ceil(entriesAPlace / 2));
  }
  return Number(places[0]?.taken ?? 0n);
}

/** Splits a place. Uncounted entries stay out. */
async function split(tx: Db, { history, functionName, at, id }: CountPlace, size: number): Promise<void> {
  const called = functionName === '' ? sql`` : sql`and function_name = ${functionName}`;
  await tx.run(sql`
    with next as (
      select from_created_at, from_id from transaction_history_counts
       where history = ${history} and function_name = ${functionName}
         and (from_created_at, from_id) > (${at}::timestamptz, ${id})
      union all select 'infinity', ''
       order by 1, 2 limit 1
    ),
    entry as (
      select created_at, transaction_id, row_number() over (order by created_at, transaction_id) - 1 as number
        from transaction_history
       where history = ${history} ${called}
         and (created_at, transaction_id) >= (${at}::timestamptz, ${id})
         and (created_at, transaction_id) < (select from_created_at, from_id from next)
         and transaction_id not in (
           select transaction_id from transaction_history_uncounted where history = ${history})
    ),
    piece as (
      select number / ${size} as piece, count(*) as entries, min(created_at) as at,
             min(transaction_id) filter (where number % ${size} = 0) as id
        from entry group by 1
    )
    insert into transaction_history_counts (history, function_name, from_created_at, from_id, entries)
    select ${history}, ${functionName}, case piece when 0 then ${at}::timestamptz else at end,
           case piece when 0 then ${id} else id end, entries
      from piece
    on conflict (history, function_name, from_created_at, from_id) do update set entries = excluded.entries`);
}

interface DateQuery {
  readonly year?: number;
  readonly month?: number;
  readonly day?: number;
}

export interface ListQuery extends PageQuery, DateQuery {
  readonly walletAddress: string;
  readonly calledFunction?: string;
}

export async function listTransactions(
  reads: Reads,
  owner: RecordOwner,
  query: ListQuery,
): Promise<PageOf<Transaction>> {
  const period = readPeriod(query);
  const page = readPage(query);
  const { records, total } = await readHistory(reads, owner, {
    address: query.walletAddress,
    functionName: query.calledFunction || undefined,
    period,
    ...page,
  });
  return toPage(records.map(toTransaction), total, page);
}

/** UTC. A day that does not exist is an empty period. */
export function readPeriod({ year, month, day }: DateQuery): Period {
  if (day !== undefined && month === undefined) throw new ApiError('invalid_request', 'day needs month and year.');
  if (month !== undefined && year === undefined) throw new ApiError('invalid_request', 'month needs year.');
  if (year === undefined) return ALWAYS;
  if (month === undefined) return { from: Date.UTC(year, 0), before: Date.UTC(year + 1, 0) };
  const nextMonth = Date.UTC(year, month);
  if (day === undefined) return { from: Date.UTC(year, month - 1), before: nextMonth };
  const from = Math.min(Date.UTC(year, month - 1, day), nextMonth);
  return { from, before: Math.min(Date.UTC(year, month - 1, day + 1), nextMonth) };
}

type Query = QueryOf<typeof endpoints.listTransactions>;
type Answer = AnswerOf<typeof endpoints.listTransactions>;

/** With the secret key, also records of an EVM address. */
export async function listOfWallet(reads: Reads, caller: Caller, query: Query): Promise<Answer> {
  const evmAddress = parseEvmAddress(query.walletAddress);
  if (evmAddress.ok && caller.proof === 'secret key') {
    return listTransactions(reads, caller, { ...query, walletAddress: evmAddress.value });
  }
  const { address } = await requireWallet(reads, caller, readAddress(query.walletAddress, 'query.walletAddress'));
  return listTransactions(reads, caller, { ...query, walletAddress: address });
}

type Endpoint = typeof endpoints.listEnvironmentTransactions;
type EnvironmentQuery = QueryOf<Endpoint>;
type EnvironmentAnswer = AnswerOf<Endpoint>;
type ListRow = Row & Place;

interface ListDeps extends FindDeps {
  readonly lists: Reads;
}

/** More wallets than a person has; each is a walk of its own. */
const MAX_WALLETS = 100;

const EMPTY: CursorPageOf<never> = { data: [], nextCursor: null };

export async function listEnvironmentTransactions(
  deps: ListDeps,
  caller: Caller,
  query: EnvironmentQuery,
): Promise<EnvironmentAnswer> {
  const page = readCursor(query);
  const addresses = await addressesOf(deps.reads, caller, query);
  if (addresses?.length === 0) return EMPTY;
  const ids = query.search === undefined ? undefined : await search(deps, caller, query.search);
  if (ids?.length === 0) return EMPTY;
  const where = sql`organization_id = ${caller.organizationId} and environment = ${caller.environment}
    and transaction_hash is not null ${filtersOf(query, ids)}`;
  const rows = await deps.lists.rows<ListRow>(
    (addresses ? ofAddresses(caller, addresses, where, page) : ofEnvironment(where, page)).unnamed,
  );
  return toCursorPage(rows, page.limit, (row) => toTransaction(fromRow(row)));
}

type Page = ReturnType<typeof readCursor>;

const columns = sql`${recordColumns}, ${microsOf(sql`created_at`)} as micros`;

const ofEnvironment = (where: Sql, { limit, after }: Page): Sql => sql`
  select ${columns} from transactions
   where ${where} ${olderThan(after, sql`created_at`, sql`id`)}
   order by created_at desc, id desc limit ${limit + 1}`;

/** Each address has its history in order; a transfer between two of them is in both. */
const ofAddresses = (
  { organizationId, environment }: Caller,
  addresses: readonly string[],
  where: Sql,
  { limit, after }: Page,
): Sql => sql`
  select * from (
    select distinct on (record.id) record.*
      from unnest(${addresses}::text[]) as address cross join lateral (
        select ${columns} from (
          select transaction_id, created_at as at from transaction_history
           where history = history_key(${organizationId}, ${environment}, address)
             ${olderThan(after, sql`created_at`, sql`transaction_id`)}
        ) entry join transactions on transactions.id = entry.transaction_id
         where ${where}
         order by entry.at desc, entry.transaction_id desc limit ${limit + 1}
      ) record
  ) found
  order by micros desc, id desc limit ${limit + 1}`;

/** Undefined: of all addresses. */
async function addressesOf(
  reads: Reads,
  caller: Caller,
  query: EnvironmentQuery,
): Promise<readonly string[] | undefined> {
  const { walletAddress, externalUserId } = query;
  const address = walletAddress === undefined ? undefined : readAnyAddress(walletAddress);
  if (externalUserId === undefined) return address === undefined ? undefined : [address];
  const wallets = await walletsOfUser(reads, { ...caller, externalUserId }, MAX_WALLETS);
  const owned: readonly string[] = wallets.map((wallet) => wallet.address);
  return address === undefined ? owned : owned.filter((each) => each === address);
}

function readAnyAddress(text: string): StarknetAddress | string {
  const evm = parseEvmAddress(text);
  if (evm.ok) return evm.value;
  const address = parseStarknetAddress(text);
  return address.ok ? address.value : refuse('query.walletAddress', address.reason);
}

async function search(deps: ListDeps, caller: Caller, text: string): Promise<string[]> {
  const records = await find(deps, caller, text);
  return records.map(({ id }) => id);
}

function filtersOf(
  { type, status, token, skuId, ...times }: EnvironmentQuery,
  ids: readonly string[] | undefined,
): Sql {
  const { from, before } = readTimeRange(times);
  return [
    ids === undefined ? sql`` : sql`and id = any(${ids})`,
    type === undefined ? sql`` : sql`and type = ${type}`,
    status === undefined ? sql`` : sql`and status = ${status}`,
    token === undefined ? sql`` : sql`and token = ${token}`,
    skuId === undefined ? sql`` : sql`and type = 'SKU_PURCHASE' and sku_id = ${skuId}`,
    from === undefined ? sql`` : sql`and created_at >= ${from}`,
    before === undefined ? sql`` : sql`and created_at < ${before}`,
  ].reduce((all, filter) => sql`${all} ${filter}`);
}
