import { createHash, randomUUID } from 'node:crypto';
import { ApiError } from '@svc/protocol';
import { type Db, sql } from '@svc/store';
import { Waiters } from '../util/wakeup.ts';

/** NOTIFY channel for answers that duplicates wait for; the payload is the id of the key. */
export const IDEMPOTENCY_CHANNEL = 'svc_idempotency';

/** Longer than any request runs; a key whose process died is free after this. */
const LEASE_SECONDS = 45;
const RETENTION_HOURS = 24;
const MAX_WAIT_MS = 10_000;
/** For notifications that were lost. */
const FALLBACK_POLL_MS = 1_000;
/** A released key that another duplicate claims first. */
const MAX_LOST_RACES = 5;

export interface StoredAnswer {
  readonly status: number;
  readonly body: unknown;
}

export interface KeyedRequest {
  readonly scope: string;
  readonly key: string;
  readonly fingerprint: Buffer;
}

export interface KeyClaim {
  readonly requestKey: string;
  store(db: Db, answer: StoredAnswer): Promise<void>;
  release(): Promise<void>;
}

export class KeyWaiters extends Waiters {
  readonly #pollMs: number;

  constructor(pollMs: number = FALLBACK_POLL_MS) {
    super();
    this.#pollMs = pollMs;
  }

  /** Calls `attempt` at once, after every notification and every poll, until it has a result. */
  until<T>(request: KeyedRequest, attempt: () => Promise<T | undefined>): Promise<T> {
    return this.waiting(idOf(request), async (wakeup) => {
      const deadline = Date.now() + MAX_WAIT_MS;
      while (wakeup && Date.now() < deadline) {
        const result = await attempt();
        if (result !== undefined) return result;
        await wakeup.wait(Math.min(this.#pollMs, deadline - Date.now()));
      }
      throw new ApiError('idempotency_key_in_progress');
    });
  }
}

export function fingerprintOf(method: string, url: string, body: unknown): Buffer {
  return createHash('sha256')
    .update(`${method} ${url}\n${canonical(body)}`)
    .digest();
}

type ClaimResult = { readonly replay: StoredAnswer } | { readonly claim: KeyClaim };

/** Replays the stored answer, or claims the right to answer. Waits for a running request with the same key. */
export async function claimKey(db: Db, request: KeyedRequest, waiters: KeyWaiters): Promise<ClaimResult> {
  const owner = randomUUID();
  const first = await tryClaim(db, request, owner);
  if (first) return first;
  return waiters.until(request, async () => {
    for (let race = 0; race < MAX_LOST_RACES; race++) {
      // Marked before the read, so that an answer stored after the read is announced.
      const marked = await markAwaited(db, request);
      const result = await tryClaim(db, request, owner);
      if (result || marked) return result;
    }
    return undefined;
  });
}

async function tryClaim(db: Db, request: KeyedRequest, owner: string): Promise<ClaimResult | undefined> {
  if (await insertClaim(db, request, owner)) return { claim: claimOf(db, request, owner) };
  const { scope, key, fingerprint } = request;
  const row = await db.one<{ fingerprint: Buffer; status: number | null; body: unknown }>(sql`
    select fingerprint, status, body from idempotency_keys where scope = ${scope} and key = ${key}`);
  if (row && !row.fingerprint.equals(fingerprint)) throw new ApiError('idempotency_key_reused');
  return row && row.status !== null ? { replay: { status: row.status, body: row.body } } : undefined;
}

async function insertClaim(db: Db, { scope, key, fingerprint }: KeyedRequest, owner: string): Promise<boolean> {
  const claimed = await db.run(sql`
    insert into idempotency_keys as k (scope, key, fingerprint, owner, leased_until)
    values (${scope}, ${key}, ${fingerprint}, ${owner}, now() + make_interval(secs => ${LEASE_SECONDS}))
    on conflict (scope, key) do update
    set fingerprint = excluded.fingerprint, owner = excluded.owner, leased_until = excluded.leased_until,
        status = null, body = null, awaited = false, created_at = now()
    where k.created_at < now() - make_interval(hours => ${RETENTION_HOURS})
       or (k.status is null and k.leased_until < now() and k.fingerprint = excluded.fingerprint)`);
  return claimed === 1;
}

async function markAwaited(db: Db, { scope, key }: KeyedRequest): Promise<boolean> {
  const marked = await db.run(sql`
    update idempotency_keys set awaited = true where scope = ${scope} and key = ${key} and status is null`);
  return marked === 1;
}

function claimOf(db: Db, request: KeyedRequest, owner: string): KeyClaim {
  const { scope, key, fingerprint } = request;
  const mine = sql`scope = ${scope} and key = ${key} and owner = ${owner} and status is null`;
  const announce = async (within: Db, { awaited }: { awaited: boolean }) => {
    if (awaited) await within.run(sql`select pg_notify(${IDEMPOTENCY_CHANNEL}, ${idOf(request)})`);
  };
  return {
    requestKey: createHash('sha256')
      .update(JSON.stringify([scope, key]))
      .update(fingerprint)
      .digest('hex'),
    async store(within, { status, body }) {
      const stored = await within.one<{ awaited: boolean }>(sql`
        update idempotency_keys set status = ${status}, body = ${JSON.stringify(body)}::jsonb where ${mine}
        returning awaited`);
      // Another request claimed the key: the work of this transaction must not happen a second time.
      if (!stored) throw new Error('This request lost its idempotency key to another one.');
      await announce(within, stored);
    },
    async release() {
      const released = await db.one<{ awaited: boolean }>(sql`
        delete from idempotency_keys where ${mine} returning awaited`);
      if (released) await announce(db, released);
    },
  };
}

const idOf = ({ scope, key }: KeyedRequest): string =>
  createHash('sha256')
    .update(JSON.stringify([scope, key]))
    .digest('hex');

export function deleteOldKeys(db: Db): Promise<number> {
  return db.run(sql`
    delete from idempotency_keys where created_at < now() - make_interval(hours => ${RETENTION_HOURS})`);
}

function canonical(value: unknown): string {
  return (
    JSON.stringify(value, (_, item: unknown) =>
      item !== null && typeof item === 'object' && !Array.isArray(item)
        ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
        : item,
    ) ?? ''
  );
}
