import { isIPv4, isIPv6 } from 'node:net';
import { ApiError } from '@svc/protocol';
import { type Db, sql } from '@svc/store';

const WINDOW_SECONDS = 60;
/** A replica takes this share of the limit at a time: at 100 a minute, five; what it does not use is lost to the others. */
const BLOCK_SHARE = 20;
const MAX_BLOCK = 1_000;
/** Keys that were not seen for a window are forgotten when this many are in memory. */
const MAX_LEASES = 10_000;
/** Each turn of the loop in `take` ends with a decision or a new lease; more turns mean that the clock is broken. */
const MAX_TURNS = 1_000;

export interface Decision {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
}

interface Lease {
  /** Requests that this process may still let through. */
  tokens: number;
  /** What nobody had taken when the block was taken. */
  readonly left: number;
  readonly endsAt: number;
}

/**
 * A limit per key and minute that all replicas share. Each takes blocks of requests out of one row per key in the
 * database and spends them in memory, so most requests cost no query. The window opens with the first request.
 */
export class RateLimiter {
  readonly #db: Db;
  readonly #limit: number;
  readonly #now: () => number;
  readonly #leases = new Map<string, Lease>();
  readonly #taking = new Map<string, Promise<Lease>>();

  constructor(db: Db, limit: number, now: () => number = () => performance.now()) {
    this.#db = db;
    this.#limit = limit;
    this.#now = now;
  }

  async take(keyId: string): Promise<Decision> {
    for (let turn = 0; turn < MAX_TURNS; turn++) {
      const lease = this.#leases.get(keyId);
      if (lease && lease.endsAt > this.#now()) {
        if (lease.tokens > 0) {
          lease.tokens--;
          return this.#decision(true, lease);
        }
        if (lease.left === 0) return this.#decision(false, lease);
      }
      await this.#takeBlock(keyId);
    }
    throw new Error('The rate limit found neither a token nor the end of the window.');
  }

  #decision(allowed: boolean, lease: Lease): Decision {
    return {
      allowed,
      limit: this.#limit,
      remaining: lease.tokens + lease.left,
      resetSeconds: Math.max(1, Math.ceil((lease.endsAt - this.#now()) / 1000)),
    };
  }

  /** Callers that come while a block is on its way wait for that one. */
  #takeBlock(keyId: string): Promise<Lease> {
    const running = this.#taking.get(keyId);
    if (running) return running;
    const taking = this.#readBlock(keyId).finally(() => this.#taking.delete(keyId));
    this.#taking.set(keyId, taking);
    return taking;
  }

  async #readBlock(keyId: string): Promise<Lease> {
    const limit = this.#limit;
    const block = Math.min(MAX_BLOCK, Math.max(1, Math.floor(limit / BLOCK_SHARE)));
    const asked = this.#now();
    const row = await this.#db.one<{ used: number; granted: number; ends_in_ms: string }>(sql`
      insert into rate_windows as w (key_id, started_at, used, granted)
      values (${keyId}, statement_timestamp(), ${block}::integer, ${block}::integer)
      on conflict (key_id) do update set
        started_at = case when ${overdue} then statement_timestamp() else w.started_at end,
        granted = case when ${overdue} then ${block}::integer else least(${block}::integer, greatest(0, ${limit}::integer - w.used)) end,
        used = case when ${overdue} then ${block}::integer
               else w.used + least(${block}::integer, greatest(0, ${limit}::integer - w.used)) end
      returning used, granted,
        extract(epoch from started_at - statement_timestamp()) * 1000 + ${WINDOW_SECONDS * 1000}::integer as ends_in_ms`);
    if (!row) throw new Error('The rate window was not stored.');
    if (this.#leases.size >= MAX_LEASES) this.#forgetEnded();
    const lease = {
      tokens: row.granted,
      left: Math.max(0, limit - row.used),
      endsAt: asked + Number(row.ends_in_ms),
    };
    this.#leases.set(keyId, lease);
    return lease;
  }

  #forgetEnded(): void {
    const now = this.#now();
    for (const [keyId, lease] of this.#leases) if (lease.endsAt <= now) this.#leases.delete(keyId);
    if (this.#leases.size >= MAX_LEASES) this.#leases.clear();
  }
}

/** Anyone can claim a gift, so there may be windows of a great many clients; called by a recurring job. */
export function deleteEndedWindows(db: Db): Promise<number> {
  return db.run(sql`delete from rate_windows as w where ${overdue}`);
}

const overdue = sql`w.started_at <= statement_timestamp() - make_interval(secs => ${WINDOW_SECONDS})`;

/** `rate_limited`, with the time after which it is worth trying again. */
export class TooManyRequests extends ApiError {
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    super('rate_limited');
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** A household or a server has a whole network of IPv6 addresses to choose from, so they count as one. */
const NETWORK_GROUPS = 4;
const GROUPS = 8;

/**
 * The client of a request as limits count it: an IPv4 address, or the first 64 bits of an IPv6 address. What is neither (only a
 * proxy that is trusted could say so) is one client together.
 */
export function clientOf(ip: string): string {
  const [address = ''] = ip.split('%', 1);
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
  if (isIPv4(mapped)) return mapped;
  if (!isIPv6(mapped)) return 'unknown';
  return `${groupsOf(mapped).slice(0, NETWORK_GROUPS).join(':')}::/64`;
}

/** The eight groups, without leading zeros. */
function groupsOf(address: string): string[] {
  const [head = '', tail] = withoutDots(address).toLowerCase().split('::');
  const read = (part: string) => (part === '' ? [] : part.split(':').map((group) => group.replace(/^0+(?=.)/, '')));
  const [first, last] = [read(head), read(tail ?? '')];
  const zeros = new Array<string>(GROUPS - first.length - last.length).fill('0');
  return [...first, ...zeros, ...last];
}

/** The last two groups may be spelt like an IPv4 address. */
function withoutDots(address: string): string {
  return address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...bytes: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = bytes.slice(0, 4).map(Number);
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });
}
