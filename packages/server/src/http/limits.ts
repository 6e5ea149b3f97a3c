import { isIPv4, isIPv6 } from 'node:net';
import { setTimeout as pauseFor } from 'node:timers/promises';
import { ApiError, type endpoints } from '@svc/protocol';
import { currentTenant, type Db, sql } from '@svc/store';
import { TurnQueue } from '../util/semaphore.ts';
import type { Caller } from './call.ts';

const WINDOW_SECONDS = 60;
/** A replica reserves a twentieth of the limit at a time; unused reservations are lost to the others. */
const BLOCK_SHARE = 20;
const MAX_BLOCK = 1_000;
const MAX_LEASES = 10_000;
/** Each round of `take` decides or gets a new lease; more rounds mean a broken clock. */
const MAX_ROUNDS = 1_000;

export interface Decision {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
}

interface Lease {
  tokens: number;
  /** Not reserved by any process at the time of the lease. */
  readonly left: number;
  readonly endsAt: number;
}

/** A limit per counter and minute, shared by all replicas. Each reserves blocks in the database and counts them in memory. */
export class RateLimiter {
  readonly #db: Db;
  readonly #limit: number;
  readonly #now: () => number;
  readonly #leases = new Map<string, Lease>();
  readonly #reserving = new Map<string, Promise<Lease>>();

  constructor(db: Db, limit: number, now: () => number = () => performance.now()) {
    this.#db = db;
    this.#limit = limit;
    this.#now = now;
  }

  async take(keyId: string): Promise<Decision> {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const lease = this.#leases.get(keyId);
      if (lease && lease.endsAt > this.#now()) {
        if (lease.tokens > 0) {
          lease.tokens--;
          return this.#decision(true, lease);
        }
        if (lease.left === 0) return this.#decision(false, lease);
      }
      await this.#reserve(keyId);
    }
    throw new Error('The rate limit found neither a token nor the end of the window.');
  }

  /** The refusal that the next request gets, as far as this process knows without asking. */
  refusal(keyId: string): Decision | undefined {
    const lease = this.#leases.get(keyId);
    if (!lease || lease.endsAt <= this.#now() || lease.tokens > 0 || lease.left > 0) return undefined;
    return this.#decision(false, lease);
  }

  #decision(allowed: boolean, lease: Lease): Decision {
    return {
      allowed,
      limit: this.#limit,
      remaining: lease.tokens + lease.left,
      resetSeconds: Math.max(1, Math.ceil((lease.endsAt - this.#now()) / 1000)),
    };
  }

  #reserve(keyId: string): Promise<Lease> {
    const running = this.#reserving.get(keyId);
    if (running) return running;
    const reserving = this.#reserveBlock(keyId).finally(() => this.#reserving.delete(keyId));
    this.#reserving.set(keyId, reserving);
    return reserving;
  }

  async #reserveBlock(keyId: string): Promise<Lease> {
    const limit = this.#limit;
    const block = Math.min(MAX_BLOCK, Math.max(1, Math.floor(limit / BLOCK_SHARE)));
    const requestedAt = this.#now();
    const row = await this.#db.one<{ used: number; granted: number; ends_in_ms: string }>(sql`
      insert into rate_windows as w (key_id, started_at, used, granted)
      values (${keyId}, statement_timestamp(), ${block}::integer, ${block}::integer)
      on conflict (key_id) do update set
        started_at = case when ${ended} then statement_timestamp() else w.started_at end,
        granted = case when ${ended} then ${block}::integer else least(${block}::integer, greatest(0, ${limit}::integer - w.used)) end,
        used = case when ${ended} then ${block}::integer
               else w.used + least(${block}::integer, greatest(0, ${limit}::integer - w.used)) end
      returning used, granted,
        extract(epoch from started_at - statement_timestamp()) * 1000 + ${WINDOW_SECONDS * 1000}::integer as ends_in_ms`);
    if (!row) throw new Error('The rate window was not stored.');
    if (this.#leases.size >= MAX_LEASES) this.#dropEnded();
    const lease = {
      tokens: row.granted,
      left: Math.max(0, limit - row.used),
      endsAt: requestedAt + Number(row.ends_in_ms),
    };
    this.#leases.set(keyId, lease);
    return lease;
  }

  #dropEnded(): void {
    const now = this.#now();
    for (const [keyId, lease] of this.#leases) if (lease.endsAt <= now) this.#leases.delete(keyId);
    if (this.#leases.size >= MAX_LEASES) this.#leases.clear();
  }
}

export interface RequestLimits {
  /** Of a secret key, of a user, and of a client address with a public key alone. */
  readonly requests: RateLimiter;
  readonly usersOfKey: RateLimiter;
  /** Of a client address at endpoints without credentials. */
  readonly clients: RateLimiter;
  /** Of a member's session: pages that follow what is under way ask often. */
  readonly sessions: RateLimiter;
}

/** Counts a request where it slows down its own caller only. */
export function takeRequest(limits: RequestLimits, caller: Caller | undefined, ip: string): Promise<Decision> {
  if (!caller) return limits.clients.take(`client ${clientOf(ip)}`);
  const { organizationId, environment, keyId, secretKeyId, externalUserId, member } = caller;
  if (member) return limits.sessions.take(`session ${member.sessionId}`);
  if (secretKeyId !== undefined) return limits.requests.take(secretKeyId);
  if (externalUserId === undefined) return limits.requests.take(`${keyId} client ${clientOf(ip)}`);
  return takeUserRequest(limits, `user ${organizationId} ${environment} ${externalUserId}`, `users of ${keyId}`);
}

/** A user over the own limit uses nothing of the ceiling, which belongs to the others too. */
async function takeUserRequest(limits: RequestLimits, user: string, ceiling: string): Promise<Decision> {
  const own = await limits.requests.take(user);
  if (!own.allowed) return own;
  const shared = await limits.usersOfKey.take(ceiling);
  return shared.allowed && shared.remaining >= own.remaining ? own : shared;
}

export function deleteEndedWindows(db: Db): Promise<number> {
  return db.run(sql`delete from rate_windows as w where ${ended}`);
}

const ended = sql`w.started_at <= statement_timestamp() - make_interval(secs => ${WINDOW_SECONDS})`;

/** Counts several at once on the window of a minute, or throws `rate_limited`. Always one statement. */
export async function countInWindow(db: Db, keyId: string, count: number, limit: number): Promise<void> {
  const row = await db.one<{ used: number; ends_in: string }>(sql`
    insert into rate_windows as w (key_id, started_at, used, granted)
    values (${keyId}, statement_timestamp(), ${count}::integer, ${count}::integer)
    on conflict (key_id) do update set
      started_at = case when ${ended} then statement_timestamp() else w.started_at end,
      used = case when ${ended} then 0 else least(w.used, ${limit}::integer) end + ${count}::integer
    returning used, extract(epoch from started_at - statement_timestamp()) + ${WINDOW_SECONDS}::integer as ends_in`);
  if (row && row.used > limit) throw new TooManyRequests(Math.max(1, Math.ceil(Number(row.ends_in))));
}

export class TooManyRequests extends ApiError {
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number, code: 'rate_limited' | 'proof_of_work_required' = 'rate_limited') {
    super(code);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** One client has a whole /64 of IPv6 addresses. */
const NETWORK_GROUPS = 4;
const GROUPS = 8;

/** The client as limits count it: an IPv4 address or an IPv6 network. Other values, from a trusted proxy, count together. */
export function clientOf(ip: string): string {
  const [address = ''] = ip.split('%', 1);
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
  if (isIPv4(mapped)) return mapped;
  if (!isIPv6(mapped)) return 'unknown';
  return `${groupsOf(mapped).slice(0, NETWORK_GROUPS).join(':')}::/64`;
}

export function widerNetworks(client: string): readonly string[] {
  const [first, second, third] = client.split(/[.:]/);
  if (isIPv4(client)) return [`${first}.${second}.${third}.0/24`, `${first}.${second}.0.0/16`];
  return client.endsWith('::/64') ? [`${first}:${second}:${third}::/48`, `${first}:${second}::/32`] : [];
}

function groupsOf(address: string): string[] {
  const [head = '', tail] = withoutDots(address).toLowerCase().split('::');
  const read = (part: string) => (part === '' ? [] : part.split(':').map((group) => group.replace(/^0+(?=.)/, '')));
  const [first, last] = [read(head), read(tail ?? '')];
  const zeros = new Array<string>(GROUPS - first.length - last.length).fill('0');
  return [...first, ...zeros, ...last];
}

function withoutDots(address: string): string {
  return address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...bytes: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = bytes.slice(0, 4).map(Number);
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });
}

/** About a hundred times the work of a read. */
const expensiveOperations: ReadonlySet<string> = new Set<keyof typeof endpoints>([
  'createWallet',
  'createRecipientWallet',
  'executeSponsoredTransaction',
  'executeWalletUpgrade',
]);

export const isExpensive = (operationId: string): boolean => expensiveOperations.has(operationId);

export const BUSY_COUNT = 25;
export const BUSY_WINDOW_MS = 250;
/** Half of a usual client timeout; the work itself comes on top. */
export const LONGEST_WAIT_MS = 10_000;

interface AdmissionOptions {
  readonly perSecond: number;
  readonly now?: () => number;
  readonly pause?: (ms: number) => Promise<unknown>;
}

/** Throttles expensive requests while many others are served, so that reads stay fast. Organisations take turns; a full queue admits the next early. */
export class AdmissionControl {
  readonly #gapMs: number;
  readonly #maxWaiting: number;
  readonly #now: () => number;
  readonly #pause: (ms: number) => Promise<unknown>;
  /** Ring buffer; `#next` is its oldest entry. */
  readonly #servedAt = new Array<number>(BUSY_COUNT).fill(Number.NEGATIVE_INFINITY);
  #next = 0;
  readonly #waiting = new TurnQueue<() => void>();
  #draining = false;
  #startedAt = Number.NEGATIVE_INFINITY;
  #stopped = false;

  constructor({ perSecond, now = () => performance.now(), pause = pauseFor }: AdmissionOptions) {
    this.#gapMs = 1_000 / perSecond;
    this.#maxWaiting = Math.ceil(LONGEST_WAIT_MS / this.#gapMs);
    this.#now = now;
    this.#pause = pause;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  served(): void {
    this.#servedAt[this.#next] = this.#now();
    this.#next = (this.#next + 1) % BUSY_COUNT;
  }

  start(tenant = currentTenant()): Promise<void> {
    return new Promise((begin) => {
      this.#waiting.push(tenant, begin);
      if (!this.#isBusy()) this.#beginAll();
      else if (this.#waiting.size > this.#maxWaiting) this.#beginNext();
      if (!this.#draining) void this.#drain();
    });
  }

  /** Admits everything: a process that stops finishes its requests. */
  stop(): void {
    this.#stopped = true;
    this.#beginAll();
  }

  async #drain(): Promise<void> {
    this.#draining = true;
    while (this.#waiting.size > 0) {
      const dueInMs = this.#startedAt + this.#gapMs - this.#now();
      if (!this.#isBusy()) this.#beginAll();
      else if (dueInMs > 0) await this.#pause(dueInMs);
      else this.#beginNext();
    }
    this.#draining = false;
  }

  #isBusy(): boolean {
    const oldest = this.#servedAt[this.#next] ?? Number.NEGATIVE_INFINITY;
    return !this.#stopped && this.#now() - oldest < BUSY_WINDOW_MS;
  }

  #beginNext(): void {
    const begin = this.#waiting.shift();
    if (!begin) return;
    this.#startedAt = this.#now();
    begin();
  }

  #beginAll(): void {
    while (this.#waiting.size > 0) this.#beginNext();
  }
}
