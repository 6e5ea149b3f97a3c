import { type Db, type Sql, sql } from '@svc/store';

/**
 * Faults of transactions: `revert` (executed, with `reason`), `reject` (fails validation, with `reason`), `forget` (acknowledged,
 * then dropped), `lose-answer` (executed, then the connection closes). Faults of any call: `slow` (by `delayMs`), `error`
 * (JSON-RPC error with `code` and `message`), `unavailable` (HTTP 503), `stale` (answers from `blocks` blocks ago).
 */
export const faultKinds = [
  'revert',
  'reject',
  'forget',
  'lose-answer',
  'slow',
  'error',
  'unavailable',
  'stale',
] as const;
export type FaultKind = (typeof faultKinds)[number];

export interface FaultParameters {
  readonly reason?: string;
  readonly delayMs?: number;
  readonly code?: number;
  readonly message?: string;
  readonly blocks?: number;
}

export interface NewFault extends FaultParameters {
  readonly kind: FaultKind;
  readonly method?: string;
  /** Without it, the fault applies until it expires. */
  readonly count?: number;
  readonly seconds: number;
}

export interface Fault extends FaultParameters {
  readonly id: number;
  readonly kind: FaultKind;
  readonly method?: string;
  readonly remaining?: number;
  readonly expiresAt: string;
}

/** Faults are added by hand; more is a runaway program. */
export const MAX_FAULTS = 1_000;

interface Row {
  readonly id: number;
  readonly kind: FaultKind;
  readonly method: string | null;
  readonly remaining: number | null;
  readonly expires_at: Date;
  readonly parameters: FaultParameters;
}

export async function addFault(db: Db, fault: NewFault): Promise<Fault | undefined> {
  const { kind, method, count, seconds, ...parameters } = fault;
  return db.tx(async (tx) => {
    // Locks the head first, like every writer, which prevents deadlocks.
    await tx.run(sql`
      update sandbox.chain set orders_until =
        greatest(orders_until, clock_timestamp() + make_interval(secs => ${seconds}))`);
    await tx.run(sql`delete from sandbox.faults where remaining = 0 or expires_at < clock_timestamp()`);
    const row = await tx.one<Row>(sql`
      insert into sandbox.faults (kind, method, remaining, expires_at, parameters)
      select ${kind}, ${method ?? null}, ${count ?? null}, clock_timestamp() + make_interval(secs => ${seconds}),
        ${JSON.stringify(parameters)}::json
       where (select count(*) from sandbox.faults) < ${MAX_FAULTS}
      returning id, kind, method, remaining, expires_at, parameters`);
    return row && faultOf(row);
  });
}

export async function listFaults(db: Db): Promise<Fault[]> {
  const rows = await db.rows<Row>(sql`
    select id, kind, method, remaining, expires_at, parameters from sandbox.faults
     where (remaining is null or remaining > 0) and expires_at > clock_timestamp() order by id`);
  return rows.map(faultOf);
}

export async function clearFaults(db: Db): Promise<void> {
  await db.tx(async (tx) => {
    await tx.run(sql`update sandbox.chain set orders_until = null`);
    await tx.run(sql`delete from sandbox.faults`);
  });
}

/** Uses the oldest matching fault once; concurrent callers get different uses. */
export async function takeFault(db: Db, kinds: readonly FaultKind[], method: string): Promise<Fault | undefined> {
  const row = await db.one<Row>(sql`
    update sandbox.faults set remaining = remaining - 1
     where id = (${oldestFitting(kinds, method)} for update) and (remaining is null or remaining > 0)
    returning id, kind, method, remaining, expires_at, parameters`);
  return row && faultOf(row);
}

/** Does not use the fault: whether it applies is known only after execution. */
export async function findFault(db: Db, kind: FaultKind, method: string): Promise<Fault | undefined> {
  const row = await db.one<Row>(sql`
    select id, kind, method, remaining, expires_at, parameters from sandbox.faults
     where id = (${oldestFitting([kind], method)})`);
  return row && faultOf(row);
}

export async function consumeFault(db: Db, id: number): Promise<void> {
  await db.run(sql`update sandbox.faults set remaining = remaining - 1 where id = ${id} and remaining > 0`);
}

function oldestFitting(kinds: readonly FaultKind[], method: string): Sql {
  return sql`
    select id from sandbox.faults
     where kind = any(${kinds}) and (method is null or method = ${method})
       and (remaining is null or remaining > 0) and expires_at > clock_timestamp()
     order by id limit 1`;
}

function faultOf(row: Row): Fault {
  return {
    id: row.id,
    kind: row.kind,
    ...(row.method !== null && { method: row.method }),
    ...(row.remaining !== null && { remaining: row.remaining }),
    ...row.parameters,
    expiresAt: row.expires_at.toISOString(),
  };
}
