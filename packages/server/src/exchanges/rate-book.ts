import { ApiError } from '@svc/protocol';
import { type Db, sql } from '@svc/store';
import { formatRate, parseRate, type Rate, type RateInForce, type RateSource, type Rates } from './exchange.ts';
import { askSource, type RateFailure } from './rate-sources.ts';

const MAX_RATE_AGE_MS = 60_000;
// While no source answers; covers long holidays.
const MAX_STORED_RATE_AGE_MS = 5 * 86_400_000;
// After a failed round, so that not every caller pays for all timeouts.
const RETRY_AFTER_MS = 10_000;
const MAX_LOOK_BACK_MINUTES = 60;

export interface RateBookOptions {
  readonly db: Db;
  readonly sources: readonly RateSource[];
  readonly now: () => number;
  readonly log: (failure: RateFailure) => void;
}

/** Fetched at most once a minute by all replicas together. */
export class RateBook implements Rates {
  readonly #db: Db;
  readonly #sources: readonly RateSource[];
  readonly #now: () => number;
  readonly #log: (failure: RateFailure) => void;
  #cached: StoredRate | undefined;
  #pending: Promise<StoredRate> | undefined;
  #failedAt: number | undefined;

  constructor({ db, sources, now, log }: RateBookOptions) {
    this.#db = db;
    this.#sources = sources;
    this.#now = now;
    this.#log = log;
  }

  async current(): Promise<StoredRate> {
    if (this.#cached && isInForce(this.#cached, this.#now())) return this.#cached;
    this.#pending ??= this.#find().finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  async ofLast(minutes: number): Promise<readonly StoredRate[]> {
    if (!(minutes > 0 && minutes <= MAX_LOOK_BACK_MINUTES)) {
      throw new RangeError(`Rates can be looked back at for ${MAX_LOOK_BACK_MINUTES} minutes at most.`);
    }
    await this.current();
    return ratesInForceSince(this.#db, this.#now() - minutes * 60_000);
  }

  async #find(): Promise<StoredRate> {
    const stored = await newestRate(this.#db, this.#now());
    if (stored && isInForce(stored, this.#now())) return this.#cache(stored);
    if (this.#isBackingOff()) throw new ApiError('rate_unavailable');
    const fetched = await this.#fetch();
    if (fetched) return this.#cache(fetched);
    return this.#cache(await this.#fallBack());
  }

  async #fetch(): Promise<StoredRate | undefined> {
    for (const source of this.#sources) {
      // Before the request: the answer may be computed right after it.
      const fetchedAt = this.#now();
      const answer = await askSource(source, fetchedAt);
      if (answer.ok) {
        const validUntil = fetchedAt + MAX_RATE_AGE_MS;
        return addRate(this.#db, { ...answer.rate, source: source.name, fetchedAt, validUntil });
      }
      this.#log(answer.failure);
    }
    return undefined;
  }

  // Read again: another replica may have stored one meanwhile.
  async #fallBack(): Promise<StoredRate> {
    const now = this.#now();
    const stored = await newestRate(this.#db, now);
    const usableUntil = (stored?.fetchedAt ?? 0) + MAX_STORED_RATE_AGE_MS;
    if (!stored || now > usableUntil) {
      this.#failedAt = now;
      throw new ApiError('rate_unavailable');
    }
    return extendRate(this.#db, stored, Math.min(now + RETRY_AFTER_MS, usableUntil));
  }

  #isBackingOff(): boolean {
    if (this.#failedAt === undefined) return false;
    const elapsed = this.#now() - this.#failedAt;
    return elapsed >= 0 && elapsed < RETRY_AFTER_MS;
  }

  #cache(rate: StoredRate): StoredRate {
    this.#cached = rate;
    return rate;
  }
}

// A clock set back must not extend a rate.
function isInForce({ fetchedAt, validUntil }: StoredRate, now: number): boolean {
  return fetchedAt <= now && now <= validUntil;
}

// Explains a price of last year.
const HISTORY_MS = 400 * 86_400_000;
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

export async function addRate(db: Db, rate: NewRate): Promise<StoredRate> {
  const row = await db.one<{ id: bigint }>(sql`
    with deleted as (
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

/** A rate from the future comes from a clock ahead of this one: not used yet. */
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
