import { type Db, sql } from '@svc/store';
import { formatRate, parseRate } from './rate.ts';
import type { Rate } from './rate-source.ts';
import type { RateInForce } from './rates.ts';

// About six hundred thousand small rows: enough to explain a price of last year.
const HISTORY_MS = 400 * 86_400_000;
// One row a minute for each replica at most: an hour of sixteen replicas.
const MAX_RATES_IN_FORCE = 1_000;

export interface StoredRate extends Rate, RateInForce {
  readonly id: bigint;
  readonly fetchedAt: number;
  readonly validUntil: number;
}

export type NewRate = Omit<StoredRate, 'id'>;

interface Row {
  readonly id: bigint;
  readonly rate: string;
  readonly source: string;
  readonly observed_on: string | null;
  readonly fetched_at: Date;
  readonly valid_until: Date;
}

/** Keeps the rate and lets go of those that nobody will ask for any more. */
export async function addRate(db: Db, rate: NewRate): Promise<StoredRate> {
  const row = await db.one<{ id: bigint }>(sql`
    with forgotten as (
      delete from exchange_rates
      where base = 'USD' and quote = 'MXN' and fetched_at < ${new Date(rate.fetchedAt - HISTORY_MS)}
    )
    insert into exchange_rates (base, quote, rate, source, observed_on, fetched_at, valid_until)
    values ('USD', 'MXN', ${formatRate(rate.mxnPerUsd)}, ${rate.source}, ${rate.observedOn ?? null},
      ${new Date(rate.fetchedAt)}, ${new Date(rate.validUntil)})
    returning id`);
  if (!row) throw new Error('The database did not answer the id of the rate.');
  return { ...rate, id: row.id };
}

/** A rate from the future was stored by a clock ahead of this one and may be older than it claims: not yet. */
export async function newestRate(db: Db, now: number): Promise<StoredRate | undefined> {
  const row = await db.one<Row>(sql`
    select id, rate, source, observed_on, fetched_at, valid_until
    from exchange_rates
    where base = 'USD' and quote = 'MXN' and fetched_at <= ${new Date(now)}
    order by fetched_at desc
    limit 1`);
  return row && fromRow(row);
}

export async function ratesInForceSince(db: Db, since: number): Promise<readonly StoredRate[]> {
  const rows = await db.rows<Row>(sql`
    select id, rate, source, observed_on, fetched_at, valid_until
    from exchange_rates
    where base = 'USD' and quote = 'MXN' and valid_until >= ${new Date(since)}
    order by fetched_at desc
    limit ${MAX_RATES_IN_FORCE}`);
  return rows.map(fromRow);
}

export async function extendRate(db: Db, rate: StoredRate, validUntil: number): Promise<StoredRate> {
  await db.run(sql`
    update exchange_rates
    set valid_until = greatest(valid_until, ${new Date(validUntil)})
    where id = ${rate.id}`);
  return { ...rate, validUntil };
}

function fromRow(row: Row): StoredRate {
  const rate = parseRate(row.rate);
  if (!rate.ok) throw new Error(`The stored rate ${row.id} ${rate.reason}.`);
  return {
    id: row.id,
    mxnPerUsd: rate.value,
    source: row.source,
    ...(row.observed_on === null ? {} : { observedOn: row.observed_on }),
    fetchedAt: row.fetched_at.getTime(),
    validUntil: row.valid_until.getTime(),
  };
}
