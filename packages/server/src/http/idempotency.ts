import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { ApiError } from '@svc/protocol';
import { type Db, sql } from '@svc/store';

/** Longer than any request runs; when its process died, the next request with the key takes over after this. */
const LEASE_SECONDS = 45;
const KEPT_HOURS = 24;
/** A second request with the key of a running one waits this long for the answer of the first. */
const PATIENCE_MS = 10_000;
const LOOK_EVERY_MS = 50;

export interface StoredAnswer {
  readonly status: number;
  readonly body: unknown;
}

export interface KeyedRequest {
  /** Whose key it is: two callers may use the same text. */
  readonly scope: string;
  readonly key: string;
  readonly fingerprint: Buffer;
}

/** The right to answer a keyed request. `answer` is stored once, in the caller's own transaction where there is one. */
export interface KeyClaim {
  /** The same for every repetition of the request, and for no other request. */
  readonly requestKey: string;
  store(db: Db, answer: StoredAnswer): Promise<void>;
  release(): Promise<void>;
}

export function fingerprintOf(method: string, url: string, body: unknown): Buffer {
  return createHash('sha256')
    .update(`${method} ${url}\n${canonical(body)}`)
    .digest();
}

/** Answers what was answered before, or the turn to answer now. */
export async function claimKey(db: Db, request: KeyedRequest): Promise<{ replay: StoredAnswer } | { turn: KeyClaim }> {
  const owner = randomUUID();
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    if (await claim(db, request, owner)) return { turn: turnOf(db, request, owner) };
    const row = await find(db, request);
    if (row && !row.fingerprint.equals(request.fingerprint)) throw new ApiError('idempotency_key_reused');
    if (row && row.status !== null) return { replay: { status: row.status, body: row.body } };
    if (Date.now() >= deadline) throw new ApiError('idempotency_key_in_progress');
    await wait(LOOK_EVERY_MS);
  }
}

/** Succeeds for a new key, for one past its day, and for the same request whose process never came to an answer. */
async function claim(db: Db, { scope, key, fingerprint }: KeyedRequest, owner: string): Promise<boolean> {
  const claimed = await db.run(sql`
    insert into idempotency_keys as k (scope, key, fingerprint, owner, leased_until)
    values (${scope}, ${key}, ${fingerprint}, ${owner}, now() + make_interval(secs => ${LEASE_SECONDS}))
    on conflict (scope, key) do update
    set fingerprint = excluded.fingerprint, owner = excluded.owner, leased_until = excluded.leased_until,
        status = null, body = null, created_at = now()
    where k.created_at < now() - make_interval(hours => ${KEPT_HOURS})
       or (k.status is null and k.leased_until < now() and k.fingerprint = excluded.fingerprint)`);
  return claimed === 1;
}

interface Row {
  readonly fingerprint: Buffer;
  readonly status: number | null;
  readonly body: unknown;
}

function find(db: Db, { scope, key }: KeyedRequest): Promise<Row | undefined> {
  return db.one(sql`select fingerprint, status, body from idempotency_keys where scope = ${scope} and key = ${key}`);
}

function turnOf(db: Db, { scope, key, fingerprint }: KeyedRequest, owner: string): KeyClaim {
  const mine = sql`scope = ${scope} and key = ${key} and owner = ${owner} and status is null`;
  return {
    requestKey: createHash('sha256')
      .update(JSON.stringify([scope, key]))
      .update(fingerprint)
      .digest('hex'),
    async store(within, { status, body }) {
      const stored = await within.run(sql`
        update idempotency_keys set status = ${status}, body = ${JSON.stringify(body)}::jsonb where ${mine}`);
      // Someone else took the key over: whatever this transaction did must not happen a second time.
      if (stored !== 1) throw new Error('This request lost its idempotency key to another one.');
    },
    async release() {
      await db.run(sql`delete from idempotency_keys where ${mine}`);
    },
  };
}

/** Removes what is past its day; called by a recurring job. */
export function forgetOldKeys(db: Db): Promise<number> {
  return db.run(sql`delete from idempotency_keys where created_at < now() - make_interval(hours => ${KEPT_HOURS})`);
}

/** JSON with sorted names, so that the same body spelt in another order is the same body. */
function canonical(value: unknown): string {
  return (
    JSON.stringify(value, (_, item: unknown) =>
      item !== null && typeof item === 'object' && !Array.isArray(item)
        ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
        : item,
    ) ?? ''
  );
}
