import { type Db, type Sql, sql } from '@svc/store';

/**
 * Faults of a burn: `never-indexed`, `delayed` (attested `delaySeconds` later), `expired` (attested but not mintable until
 * re-attested), `tampered-message` (the answer shows another `field`), `forward-failed` (not minted), `unminted` (shown as
 * minted, while Solana has nothing).
 */
export const burnFaultKinds = [
  'never-indexed',
  'delayed',
  'expired',
  'tampered-message',
  'forward-failed',
  'unminted',
] as const;
/** Faults of a request: `unavailable` (HTTP 500), `rate-limited` (HTTP 429), `no-answer` (the connection closes). */
export const requestFaultKinds = ['unavailable', 'rate-limited', 'no-answer'] as const;
export type BurnFaultKind = (typeof burnFaultKinds)[number];
export type RequestFaultKind = (typeof requestFaultKinds)[number];

export const bridgeRequests = ['messages', 'fees', 'reattest', 'solana'] as const;
export type BridgeRequest = (typeof bridgeRequests)[number];

export const tamperedFields = ['amount', 'recipient', 'domain', 'token'] as const;
export type TamperedField = (typeof tamperedFields)[number];

export interface FaultParameters {
  readonly delaySeconds?: number;
  readonly field?: TamperedField;
}

export interface BurnFault extends FaultParameters {
  readonly kind: BurnFaultKind;
}

export interface NewBridgeFault extends FaultParameters {
  readonly kind: BurnFaultKind | RequestFaultKind;
  readonly transactionHash?: string;
  readonly request?: BridgeRequest;
  /** Without it, the fault applies until it expires. */
  readonly count?: number;
  readonly seconds: number;
}

export interface BridgeFault extends FaultParameters {
  readonly id: number;
  readonly kind: BurnFaultKind | RequestFaultKind;
  readonly transactionHash?: string;
  readonly request?: BridgeRequest;
  readonly remaining?: number;
  readonly expiresAt: string;
}

/** Faults are added by hand; more is a runaway program. */
const MAX_FAULTS = 1_000;

interface Row {
  readonly id: number;
  readonly kind: BridgeFault['kind'];
  readonly transaction_hash: string | null;
  readonly request: BridgeRequest | null;
  readonly remaining: number | null;
  readonly expires_at: Date;
  readonly parameters: FaultParameters;
}

const columns = sql`id, kind, transaction_hash, request, remaining, expires_at, parameters`;
const inForce = sql`(remaining is null or remaining > 0) and expires_at > clock_timestamp()`;

export async function addBridgeFault(db: Db, fault: NewBridgeFault): Promise<BridgeFault | undefined> {
  const { kind, transactionHash, request, count, seconds, ...parameters } = fault;
  return db.tx(async (tx) => {
    await tx.run(sql`delete from sandbox.bridge_faults where not (${inForce})`);
    const row = await tx.one<Row>(sql`
      insert into sandbox.bridge_faults
        (kind, transaction_hash, request, remaining, expires_at, after_version, parameters)
      select ${kind}, ${transactionHash ?? null}, ${request ?? null}, ${count ?? null},
        clock_timestamp() + make_interval(secs => ${seconds}),
        coalesce((select version from sandbox.chain), 0), ${JSON.stringify(parameters)}::json
       where (select count(*) from sandbox.bridge_faults) < ${MAX_FAULTS}
      returning ${columns}`);
    return row && faultOf(row);
  });
}

export async function listBridgeFaults(db: Db): Promise<BridgeFault[]> {
  return (await db.rows<Row>(sql`select ${columns} from sandbox.bridge_faults where ${inForce} order by id`)).map(
    faultOf,
  );
}

/** Also clears faults of known burns. An expired attestation stays expired until it is renewed. */
export async function clearBridgeFaults(db: Db): Promise<void> {
  await db.tx(async (tx) => {
    await tx.run(sql`select from sandbox.bridge for update`);
    await tx.run(sql`delete from sandbox.bridge_faults`);
    await tx.run(sql`update sandbox.bridge_burns set fault = null where fault is not null`);
  });
}

export async function takeRequestFault(
  db: Db,
  request: BridgeRequest,
  transactionHash: string | undefined,
): Promise<RequestFaultKind | undefined> {
  const fitting = sql`(request is null or request = ${request})
    and (transaction_hash is null or transaction_hash = ${transactionHash ?? null})`;
  return (await take(db, requestFaultKinds, fitting))?.kind as RequestFaultKind | undefined;
}

/** Matches faults added before the burn, or those that name its transaction. */
export async function takeFaultOfNewBurn(tx: Db, transactionHash: string, version: number) {
  const fitting = sql`(transaction_hash = ${transactionHash}
    or (transaction_hash is null and after_version < ${version}))`;
  return burnFault(await take(tx, burnFaultKinds, fitting));
}

export async function takeFaultOfBurn(tx: Db, transactionHash: string): Promise<BurnFault | undefined> {
  return burnFault(await take(tx, burnFaultKinds, sql`transaction_hash = ${transactionHash}`));
}

function take(db: Db, kinds: readonly BridgeFault['kind'][], fitting: Sql): Promise<Row | undefined> {
  return db.one<Row>(sql`
    update sandbox.bridge_faults set remaining = remaining - 1
     where id = (select id from sandbox.bridge_faults
                  where kind = any(${kinds}) and ${fitting} and ${inForce} order by id limit 1 for update)
       and (remaining is null or remaining > 0)
    returning ${columns}`);
}

function burnFault(row: Row | undefined): BurnFault | undefined {
  return row && { kind: row.kind as BurnFaultKind, ...row.parameters };
}

function faultOf(row: Row): BridgeFault {
  return {
    id: row.id,
    kind: row.kind,
    ...(row.transaction_hash !== null && { transactionHash: row.transaction_hash }),
    ...(row.request !== null && { request: row.request }),
    ...(row.remaining !== null && { remaining: row.remaining }),
    ...row.parameters,
    expiresAt: row.expires_at.toISOString(),
  };
}
