import { type Db, type Sql, sql } from '@svc/store';
import { TooManyRequests } from '../../http/too-many-requests.ts';

const WINDOW_SECONDS = 60;
/** Clients that were refused are remembered until their window ends; more than this at once are asked for again. */
const MAX_REFUSED = 10_000;

interface Counted {
  readonly used: number;
  readonly endsInMs: string;
}

/**
 * Looks up what a code leads to, and counts for each client how often there was nothing. Beyond the limit a client is refused until
 * its minute is over, whatever it asks for. Counting and looking are one statement under the lock of the client's row: a thousand
 * requests at the same time, at any number of replicas, learn no more of unknown codes than as many in a row.
 */
export class CodeLookup {
  readonly #db: Pick<Db, 'one'>;
  readonly #limit: number;
  readonly #now: () => number;
  /** Until when a client is refused without asking the database. */
  readonly #refused = new Map<string, number>();

  constructor(db: Pick<Db, 'one'>, unknownPerMinute: number, now: () => number = () => performance.now()) {
    this.#db = db;
    this.#limit = unknownPerMinute;
    this.#now = now;
  }

  /** The one row that `query` finds, which has an id, or undefined. */
  async find<T extends { readonly id: string }>(client: string, query: Sql): Promise<T | undefined> {
    this.#refuseKnown(client);
    const limit = this.#limit;
    const row = await this.#db.one<Counted & (T | { readonly id: null })>(sql`
      with found as (
        ${query}
      ), counted as (
        insert into rate_windows as w (key_id, started_at, used, granted)
        values (${`codes ${client}`}, statement_timestamp(), case when exists (select from found) then 0 else 1 end, 0)
        on conflict (key_id) do update set
          started_at = case when ${overdue} then statement_timestamp() else w.started_at end,
          used = case when ${overdue} then excluded.used
                      when w.used >= ${limit}::integer then ${limit}::integer + 1
                      else w.used + excluded.used end
        returning used, extract(epoch from started_at - statement_timestamp()) * 1000 + ${WINDOW_SECONDS * 1000}::integer as ends_in_ms
      )
      select found.*, counted.used, counted.ends_in_ms as "endsInMs"
        from counted
        left join found on counted.used <= ${limit}::integer`);
    if (!row) throw new Error('A lookup of a code was not counted.');
    if (row.used > limit) this.#refuse(client, this.#now() + Number(row.endsInMs));
    return row.id === null ? undefined : (row as T);
  }

  #refuseKnown(client: string): void {
    const endsAt = this.#refused.get(client);
    if (endsAt === undefined) return;
    if (endsAt > this.#now()) this.#refuse(client, endsAt);
    this.#refused.delete(client);
  }

  #refuse(client: string, endsAt: number): never {
    if (this.#refused.size >= MAX_REFUSED) this.#refused.clear();
    this.#refused.set(client, endsAt);
    throw new TooManyRequests(Math.max(1, Math.ceil((endsAt - this.#now()) / 1000)));
  }
}

const overdue = sql`w.started_at <= statement_timestamp() - make_interval(secs => ${WINDOW_SECONDS})`;
