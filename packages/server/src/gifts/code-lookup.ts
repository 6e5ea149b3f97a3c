import { createHmac, hkdfSync, pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { ApiError, hasLeadingZeros, MAX_PROOF_LENGTH, PROOF_BYTES, type ProofOfWork } from '@svc/protocol';
import { type Db, type Sql, sql } from '@svc/store';
import { TooManyRequests, widerNetworks } from '../http/limits.ts';
import { processGauge } from '../http/module.ts';
import type { GaugeSource } from '../http/monitoring.ts';
import type { JobLog } from '../jobs/job.ts';

const derive = promisify(pbkdf2);

/** A thousand attempts of half a millisecond: about a second on a laptop, some on a phone. Checking one costs half a millisecond. */
const ITERATIONS = 1_000;
const DIFFICULTY = 10;
/** Time to solve it on a slow phone. */
const LIFETIME_SECONDS = 300;
const ID_BYTES = 16;
const MAC_BYTES = 16;
const PROOF =
  /^(?<payload>(?<expires>\d{1,12})\.(?<difficulty>\d{1,2})\.(?<id>[0-9a-f]{32}))\.(?<mac>[0-9a-f]{32})\.(?<solution>\d{1,12})$/;

interface SolvedProof {
  /** Unique for each challenge: a proof is used once. */
  readonly id: string;
  readonly expiresAt: Date;
}

/** Challenges that every replica can check, because they carry their time and a MAC. Nothing is stored until a solution is used. */
export class ClaimProofs {
  readonly #key: Uint8Array;
  readonly #difficulty: number;
  readonly #now: () => number;

  constructor(key: Uint8Array, difficulty: number = DIFFICULTY, now: () => number = Date.now) {
    this.#key = key;
    this.#difficulty = difficulty;
    this.#now = now;
  }

  issue(): ProofOfWork & { readonly expiresAt: Date } {
    const expires = Math.floor(this.#now() / 1_000) + LIFETIME_SECONDS;
    const payload = `${expires}.${this.#difficulty}.${randomBytes(ID_BYTES).toString('hex')}`;
    const challenge = `${payload}.${this.#mac(payload).toString('hex')}`;
    return { challenge, iterations: ITERATIONS, difficulty: this.#difficulty, expiresAt: new Date(expires * 1_000) };
  }

  /** Undefined where it is not a solution of an unexpired challenge of this deployment. The cheap checks come first. */
  async check(proof: string): Promise<SolvedProof | undefined> {
    const fields = proof.length <= MAX_PROOF_LENGTH ? PROOF.exec(proof)?.groups : undefined;
    if (!fields) return undefined;
    const { payload = '', expires, difficulty, id = '', mac = '', solution = '' } = fields;
    const expiresAt = new Date(Number(expires) * 1_000);
    if (!timingSafeEqual(Buffer.from(mac, 'hex'), this.#mac(payload))) return undefined;
    if (expiresAt.getTime() <= this.#now()) return undefined;
    const digest = await derive(solution, `${payload}.${mac}`, ITERATIONS, PROOF_BYTES, 'sha256');
    return hasLeadingZeros(digest, Number(difficulty)) ? { id, expiresAt } : undefined;
  }

  #mac(payload: string): Buffer {
    return createHmac('sha256', this.#key).update(payload).digest().subarray(0, MAC_BYTES);
  }
}

const SECRET_NAME = 'root';
const SECRET_BYTES = 32;

/** Equal in all processes on this database. The first start makes the secret of the deployment that it is derived from. */
export async function proofKey(db: Db): Promise<Uint8Array> {
  await db.run(sql`
    insert into deployment_secrets (name, secret) values (${SECRET_NAME}, ${randomBytes(SECRET_BYTES)})
    on conflict (name) do nothing`);
  const row = await db.one<{ secret: Buffer }>(sql`select secret from deployment_secrets where name = ${SECRET_NAME}`);
  if (!row) throw new Error('The secret of the deployment was not stored.');
  return new Uint8Array(hkdfSync('sha256', row.secret, '', 'svc claim proofs', SECRET_BYTES));
}

const WINDOW_SECONDS = 60;
/** Clients and networks that a process remembers as refused; a full memory is cleared, and the database refuses again. */
const MAX_REFUSED = 10_000;
/** Clients at their limit that a network has room for: IPv4 /24 and IPv6 /48, then IPv4 /16 and IPv6 /32. */
const CLIENTS_OF_NETWORKS = [10, 30];
const TOTAL = 'codes of all';

export interface MissLimits {
  readonly perClient: number;
  readonly total: number;
}

interface CodeLookupOptions {
  readonly db: Pick<Db, 'one'>;
  readonly limits: MissLimits;
  readonly proofs: ClaimProofs;
  readonly log: Pick<JobLog, 'info' | 'warn'>;
  readonly now?: () => number;
}

export interface Visitor {
  /** As limits count it. */
  readonly client: string;
  readonly proofOfWork?: string | undefined;
}

interface Row {
  readonly admitted: boolean;
  readonly used: number | null;
  readonly endsInMs: string | null;
  readonly exceeded: string | null;
  readonly exceededEndsInMs: string | null;
}

interface Look {
  readonly client: string;
  readonly solved: SolvedProof | undefined;
  readonly refusal: ProofRefusal;
}

type ProofRefusal = 'proof_of_work_required' | 'invalid_proof_of_work';

interface Counter {
  readonly key: string;
  readonly limit: number;
}

/**
 * Looks codes up and counts misses in the same statement, under a row lock: concurrent requests of a client learn no more than serial
 * ones. A client at its limit is refused. Above the limit of its networks or of all, look-ups need a proof of work.
 */
export class CodeLookup {
  readonly #options: CodeLookupOptions;
  readonly #now: () => number;
  readonly #refused = new Map<string, number>();
  #misses = 0;
  #proofsUsed = 0;

  constructor(options: CodeLookupOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** A redeem's id cannot be guessed, so that looking one up needs no proof; a miss counts all the same. */
  async findUnguessable<T extends { readonly id: string }>(client: string, query: Sql): Promise<T | undefined> {
    const free = this.#countersOf(client).map(({ key }) => ({ key, limit: MAX_COUNT }));
    return this.#look<T>({ client, solved: undefined, refusal: 'proof_of_work_required' }, query, free);
  }

  async find<T extends { readonly id: string }>(visitor: Visitor, query: Sql): Promise<T | undefined> {
    const { client, proofOfWork: proof } = visitor;
    const counters = this.#countersOf(client);
    const solved = proof === undefined ? undefined : await this.#options.proofs.check(proof);
    const refusal = proof === undefined ? 'proof_of_work_required' : 'invalid_proof_of_work';
    if (!solved) for (const { key } of counters) this.#refuseKnown(key, (seconds) => proofRefusal(refusal, seconds));
    return this.#look<T>({ client, solved, refusal }, query, counters);
  }

  gauges(): readonly GaugeSource[] {
    return [
      processGauge('svc_claim_misses', 'Look-ups of gift codes that do not exist', () => this.#misses),
      processGauge('svc_claim_proofs', 'Look-ups of gift codes with a proof of work', () => this.#proofsUsed),
    ];
  }

  #countersOf(client: string): Counter[] {
    const { perClient, total } = this.#options.limits;
    const networks = widerNetworks(client).map((network, index) => ({
      key: `codes of ${network}`,
      limit: Math.min(MAX_COUNT, perClient * (CLIENTS_OF_NETWORKS[index] ?? 1)),
    }));
    return [...networks, { key: TOTAL, limit: total }];
  }

  async #look<T extends { readonly id: string }>(
    { client, solved, refusal }: Look,
    query: Sql,
    counters: readonly Counter[],
  ): Promise<T | undefined> {
    const own = `codes ${client}`;
    this.#refuseKnown(own, (seconds) => new TooManyRequests(seconds));
    const limit = this.#options.limits.perClient;
    const row = await this.#options.db.one<Row & (T | { readonly id: null })>(sql`
      with found as (
        ${query}
      ), exceeded as (
        select w.key_id, ${endsInMs} as ends_in_ms
          from unnest(${counters.map(({ key }) => key)}::text[], ${counters.map((each) => each.limit)}::integer[]) as wide (key_id, most)
          join rate_windows as w on w.key_id = wide.key_id
         where w.used >= wide.most and not ${isOver}
         order by w.key_id
         limit 1
      ), proven as (
        insert into used_proofs (id, expires_at)
        select ${solved?.id ?? null}::text, ${solved?.expiresAt ?? null}::timestamptz
         where ${solved !== undefined}::boolean and exists (select from exceeded)
        on conflict (id) do nothing
        returning id
      ), admission as (
        select not exists (select from exceeded) or exists (select from proven) as admitted
      ), counted as (
        insert into rate_windows as w (key_id, started_at, used, granted)
        select ${own}, statement_timestamp(), case when exists (select from found) then 0 else 1 end, 0
          from admission where admitted
        on conflict (key_id) do update set
          started_at = case when ${isOver} then statement_timestamp() else w.started_at end,
          used = case when ${isOver} then excluded.used
                      when w.used >= ${limit}::integer then ${limit}::integer + 1
                      else w.used + excluded.used end
        returning used, ${endsInMs} as ends_in_ms
      ), spread as (
        insert into rate_windows as w (key_id, started_at, used, granted)
        select wide.key_id, statement_timestamp(), 1, 0
          from counted, unnest(${counters.map(({ key }) => key)}::text[]) as wide (key_id)
         where counted.used <= ${limit}::integer and not exists (select from found)
         order by wide.key_id
        on conflict (key_id) do update set
          started_at = case when ${isOver} then statement_timestamp() else w.started_at end,
          used = case when ${isOver} then 1 else least(w.used + 1, ${MAX_COUNT}::integer) end
      )
      select admitted, found.*, counted.used, counted.ends_in_ms as "endsInMs",
             exceeded.key_id as exceeded, exceeded.ends_in_ms as "exceededEndsInMs"
        from admission
        left join exceeded on true
        left join counted on true
        left join found on counted.used <= ${limit}::integer`);
    if (!row) throw new Error('A lookup of a code was not counted.');
    if (!row.admitted) {
      const endsAt = this.#now() + Number(row.exceededEndsInMs);
      this.#report(row.exceeded ?? TOTAL, endsAt);
      throw proofRefusal(refusal, this.#secondsUntil(endsAt));
    }
    if (row.exceeded !== null) this.#proofsUsed += 1;
    if ((row.used ?? 0) > limit) {
      const endsAt = this.#now() + Number(row.endsInMs);
      this.#remember(own, endsAt);
      throw new TooManyRequests(this.#secondsUntil(endsAt));
    }
    if (row.id !== null) return row as T;
    this.#misses += 1;
    this.#options.log.info({ client, misses: row.used }, 'unknown gift code');
    return undefined;
  }

  #report(counter: string, endsAt: number): void {
    const isKnown = (this.#refused.get(counter) ?? 0) > this.#now();
    this.#remember(counter, endsAt);
    if (!isKnown) this.#options.log.warn({ counter }, 'unknown gift codes at their limit, proof of work required');
  }

  #refuseKnown(key: string, refusal: (retryAfterSeconds: number) => ApiError): void {
    const endsAt = this.#refused.get(key);
    if (endsAt === undefined) return;
    if (endsAt > this.#now()) throw refusal(this.#secondsUntil(endsAt));
    this.#refused.delete(key);
  }

  #remember(key: string, endsAt: number): void {
    if (this.#refused.size >= MAX_REFUSED) this.#refused.clear();
    this.#refused.set(key, endsAt);
  }

  #secondsUntil(endsAt: number): number {
    return Math.max(1, Math.ceil((endsAt - this.#now()) / 1_000));
  }
}

const proofRefusal = (code: ProofRefusal, retryAfterSeconds: number): ApiError =>
  code === 'proof_of_work_required' ? new TooManyRequests(retryAfterSeconds, code) : new ApiError(code);

/** Counters are 32-bit integers. */
const MAX_COUNT = 2_000_000_000;
const isOver = sql`(w.started_at <= statement_timestamp() - make_interval(secs => ${WINDOW_SECONDS}))`;
const endsInMs = sql`extract(epoch from w.started_at - statement_timestamp()) * 1000 + ${WINDOW_SECONDS * 1_000}::integer`;

/** Used proofs are forgotten once their time is over: then they are refused without the table. */
export function deleteExpiredProofs(db: Pick<Db, 'run'>): Promise<number> {
  return db.run(sql`delete from used_proofs where expires_at < now() - interval '1 minute'`);
}
