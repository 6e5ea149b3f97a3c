import { type Reads, type Sql, sql } from '@svc/store';
import type { TransactionRecord } from './record.ts';
import type { RecordOwner } from './records.ts';
import { fromRow, type Row, recordColumns } from './row.ts';

/** From the first moment on and before the second, in milliseconds since 1970. */
export interface Period {
  readonly from: number;
  readonly before: number;
}

export const ALWAYS: Period = { from: Number.NEGATIVE_INFINITY, before: Number.POSITIVE_INFINITY };

export interface HistoryQuery {
  /** In its normal form. */
  readonly address: string;
  readonly functionName: string | undefined;
  readonly period: Period;
  readonly limit: number;
  readonly offset: number;
}

export interface HistoryPage {
  readonly records: TransactionRecord[];
  readonly total: number;
}

/**
 * The records that touch an address, newest first. No page costs much more than another: the counts tell how many entries
 * are newer than each of their places, so that only the way from the nearest place is walked.
 */
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

/** The places that the counts know, and how many entries there are from each to the newest. */
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

/** How many entries are not older than a moment: those from the next place on, and those on the way to it. */
function entriesSince(at: Sql, history: Sql, called: Sql): Sql {
  return sql`(
    select next.newer + (
      select count(*) from transaction_history
       where history = ${history} ${called}
         and created_at >= ${at} and (created_at, transaction_id) < (next.at, next.id))
      from (select at, id, newer from place where at >= ${at} order by at, id limit 1) next
  )`;
}
