import { type Db, sql } from '@svc/store';

export interface CountSizes {
  /** Entries in one transaction: a fraction of a second, so that the job can be stopped between two. */
  readonly batch: number;
  /** A page far down walks this many entries at most. A place that has more is split into places of half as many. */
  readonly entriesAPlace: number;
}

const SIZES: CountSizes = { batch: 5_000, entriesAPlace: 1_000 };
// A million entries; what remains is for the next run.
const MAX_BATCHES = 200;

/** Adds to the counts what was recorded since the last time, and answers how many entries that were. */
export async function countHistory(db: Db, signal?: AbortSignal, sizes = SIZES): Promise<number> {
  let counted = 0;
  for (let batch = 0; batch < MAX_BATCHES && !signal?.aborted; batch++) {
    const entries = await db.tx((tx) => countBatch(tx, sizes));
    counted += entries;
    if (entries < sizes.batch) break;
  }
  return counted;
}

/** A place of the counts, its time as text: a Date is less exact. */
interface Place {
  readonly history: string;
  readonly functionName: string;
  readonly at: string;
  readonly id: string;
  readonly entries: number;
}

async function countBatch(tx: Db, { batch, entriesAPlace }: CountSizes): Promise<number> {
  // Another process that counts at the moment does this one's work.
  const lock = await tx.one<{ held: boolean }>(sql`
    select pg_try_advisory_xact_lock(hashtextextended('svc count history', 0)) as held`);
  if (!lock?.held) return 0;
  const places = await tx.rows<Place & { taken: bigint }>(sql`
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

/** Gives the entries of a place that has too many to several. Entries that are not counted yet stay out of it. */
async function split(tx: Db, { history, functionName, at, id }: Place, size: number): Promise<void> {
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
