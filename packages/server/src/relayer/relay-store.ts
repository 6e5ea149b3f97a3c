import { ApiError, type Environment } from '@svc/protocol';
import { type Call, toHex } from '@svc/starknet';
import { type Db, type Reads, type Sql, sql } from '@svc/store';
import {
  padAddress,
  type RawInvoke,
  type SendOutcome,
  type SignedInvoke,
  type StarknetChain,
} from '../chains/starknet/chain.ts';
import { enqueueMany, type NewJob } from '../jobs/job.ts';
import { newId } from '../util/ids.ts';
import { isTraced, traced, traceparent } from '../util/trace.ts';
import type { Relay, Relayed, RelayState, SponsoredUser } from './relay.ts';

interface Row {
  readonly id: string;
  readonly environment: Environment;
  readonly chain_id: string;
  readonly kind: Relay['kind'];
  readonly purpose: string;
  readonly message_hash: string;
  readonly wallet: string;
  readonly not_after: Date;
  readonly state: RelayState;
  readonly hash: string | null;
  readonly block_number: bigint | null;
  readonly block_hash: string | null;
  readonly revert_reason: string | null;
  readonly account: string | null;
  readonly nonce: bigint | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const columns = sql`id, environment, chain_id, kind, purpose, message_hash, wallet, not_after, state, hash, block_number,
  block_hash, revert_reason, account, nonce, created_at, updated_at`;

export function findRelay(reads: Reads, id: string): Promise<Relay | undefined> {
  return find(reads, sql`id = ${id}`);
}

export async function findRelayByHash(reads: Reads, chainId: bigint, hash: bigint): Promise<Relay | undefined> {
  const [chain, text] = [toHex(chainId), toHex(hash)];
  return (
    (await find(reads, sql`id = (select relay_id from relay_attempts where chain_id = ${chain} and hash = ${text})`)) ??
    find(reads, sql`chain_id = ${chain} and hash = ${text} and account is null`)
  );
}

export function findRelayByPurpose(reads: Reads, chainId: bigint, purpose: string): Promise<Relay | undefined> {
  return find(reads, sql`chain_id = ${toHex(chainId)} and purpose = ${purpose}`);
}

async function find(reads: Reads, which: Sql): Promise<Relay | undefined> {
  const row = await reads.one<Row>(sql`select ${columns} from relays where ${which}`);
  return row && relayOf(row);
}

function relayOf(row: Row): Relay {
  const felt = (text: string | null) => (text === null ? undefined : BigInt(text));
  return {
    id: row.id,
    environment: row.environment,
    chainId: BigInt(row.chain_id),
    kind: row.kind,
    purpose: row.purpose,
    messageHash: BigInt(row.message_hash),
    wallet: BigInt(row.wallet),
    notAfter: row.not_after,
    state: row.state,
    hash: felt(row.hash),
    blockNumber: row.block_number === null ? undefined : Number(row.block_number),
    blockHash: felt(row.block_hash),
    revertReason: row.revert_reason ?? undefined,
    account: felt(row.account),
    nonce: row.nonce ?? undefined,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

export interface NewRelay {
  /** A new one by default. */
  readonly id?: string;
  readonly environment: Environment;
  readonly chainId: bigint;
  readonly kind: Relay['kind'];
  readonly purpose: string;
  readonly messageHash: bigint;
  readonly wallet: bigint;
  readonly notAfter: Date;
  readonly account: string;
  readonly nonce: bigint;
  readonly calls: readonly Call[];
  readonly attempt: AttemptKind;
  readonly signed: SignedInvoke;
  readonly user?: SponsoredUser | undefined;
  readonly budget?: BudgetShare | undefined;
  readonly poolFri?: bigint | undefined;
  /** Of the request that it is for, where others are stored with it. */
  readonly traceparent?: string | undefined;
}

export interface BudgetShare {
  readonly day: string;
  readonly fri: bigint;
}

export const budgetColumns = sql`organization_id, external_user_id, budget_day, budget_fri, budget_transactions`;
export const budgetValues = (user: SponsoredUser | undefined, budget: BudgetShare | undefined): Sql => sql`
  ${user?.organizationId ?? null}, ${user?.externalUserId ?? null}, ${budget?.day ?? null}::date, ${budget?.fri ?? null}::numeric,
  ${budget ? 1 : null}::integer`;

export async function insertRelay(tx: Db, relay: NewRelay): Promise<string | undefined> {
  return (await insertRelays(tx, [relay]))[0];
}

/** Looks before it inserts: the insertion would wait for an outcome of a duplicate, which may wait for this transaction. */
export async function insertRelays(tx: Db, relays: readonly NewRelay[]): Promise<string[]> {
  const chainIds = [...new Set(relays.map(({ chainId }) => toHex(chainId)))];
  const purposes = relays.map(({ purpose }) => purpose);
  const rows = await tx.rows<{ id: string }>(sql`
    with given as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(relays.map(rowOf))}::jsonb) as given (
        id text, environment text, chain_id text, kind text, purpose text, message_hash text, wallet text,
        not_after timestamptz, account text, nonce bigint, content jsonb, hash text, traceparent text, pool_fee numeric,
        organization_id text, external_user_id text, budget_day date, budget_fri numeric, budget_transactions integer,
        attempt text, transaction text)
    ), known as materialized (
      select chain_id, purpose from relays where chain_id = any (${chainIds}) and purpose = any (${purposes})
    ), relay as (
      insert into relays (id, environment, chain_id, kind, purpose, message_hash, wallet, not_after, account, nonce, content,
        hash, traceparent, pool_fee, ${budgetColumns})
      select id, environment, chain_id, kind, purpose, message_hash, wallet, not_after, account, nonce, content,
        hash, traceparent, pool_fee, ${budgetColumns}
        from given
       where (chain_id, purpose) not in (select chain_id, purpose from known)
       order by nonce
      on conflict do nothing
      returning id
    ), attempt as (
      insert into relay_attempts (chain_id, hash, relay_id, kind, transaction)
      select given.chain_id, given.hash, given.id, given.attempt, given.transaction from given join relay using (id)
      on conflict (chain_id, hash) do nothing
    )
    select id from relay`);
  return rows.map(({ id }) => id);
}

function rowOf(relay: NewRelay): object {
  const { user, budget, signed } = relay;
  return {
    id: relay.id ?? newId('rly'),
    environment: relay.environment,
    chain_id: toHex(relay.chainId),
    kind: relay.kind,
    purpose: relay.purpose,
    message_hash: toHex(relay.messageHash),
    wallet: padAddress(relay.wallet),
    not_after: relay.notAfter,
    account: relay.account,
    nonce: String(relay.nonce),
    content: writeCalls(relay.calls),
    hash: toHex(signed.hash),
    traceparent: relay.traceparent ?? traceparent(),
    pool_fee: String(relay.poolFri ?? 0n),
    organization_id: user?.organizationId,
    external_user_id: user?.externalUserId,
    budget_day: budget?.day,
    budget_fri: budget && String(budget.fri),
    budget_transactions: budget && 1,
    attempt: relay.attempt,
    transaction: JSON.stringify(signed.transaction),
  };
}

/** `BUMP`: the same calls with a higher fee. `FILLER`: only consumes the nonce. */
export type AttemptKind = 'FIRST' | 'BUMP' | 'FILLER';

export async function insertAttempt(
  tx: Db,
  chainId: bigint,
  relayId: string,
  kind: AttemptKind,
  { hash, transaction }: SignedInvoke,
  at?: Date,
): Promise<void> {
  // Always later than earlier attempts, also across clocks: the newest pays the most.
  await tx.run(sql`
    insert into relay_attempts (chain_id, hash, relay_id, kind, transaction, created_at)
    values (${toHex(chainId)}, ${toHex(hash)}, ${relayId}, ${kind}, ${JSON.stringify(transaction)},
      greatest(coalesce(${at ?? null}::timestamptz, now()), (
        select max(created_at) + interval '1 microsecond' from relay_attempts where relay_id = ${relayId})))
    on conflict (chain_id, hash) do nothing`);
}

export async function insertForeignAttempt(tx: Db, chainId: bigint, relayId: string, hash: bigint): Promise<void> {
  await tx.run(sql`
    insert into relay_attempts (chain_id, hash, relay_id, kind, transaction, taken_at)
    values (${toHex(chainId)}, ${toHex(hash)}, ${relayId}, 'OTHER', '', now())
    on conflict (chain_id, hash) do nothing`);
}

export async function readAttempt(db: Db, chainId: bigint, hash: bigint): Promise<SignedInvoke> {
  const row = await db.one<{ transaction: string }>(sql`
    select transaction from relay_attempts where chain_id = ${toHex(chainId)} and hash = ${toHex(hash)}`);
  if (!row) throw new Error(`The transaction ${toHex(hash)} is not stored.`);
  return { hash, transaction: JSON.parse(row.transaction) as RawInvoke };
}

export interface StoredAttempt {
  readonly hash: string;
  readonly kind: AttemptKind | 'OTHER';
  /** Undefined for one that we did not sign. */
  readonly transaction: RawInvoke | undefined;
  readonly createdAt: Date;
  readonly takenAt: Date | null;
}

/** A relay is bumped for as long as its window is open, at most every few seconds. */
const MAX_ATTEMPTS = 200;

/** Oldest first. */
export async function readAttempts(reads: Reads, relayId: string): Promise<StoredAttempt[]> {
  const rows = await reads.rows<Omit<StoredAttempt, 'transaction'> & { transaction: string }>(sql`
    select hash, kind, transaction, created_at as "createdAt", taken_at as "takenAt"
      from relay_attempts where relay_id = ${relayId} order by created_at limit ${MAX_ATTEMPTS}`);
  return rows.map(({ transaction, ...attempt }) => ({
    ...attempt,
    transaction: transaction === '' ? undefined : (JSON.parse(transaction) as RawInvoke),
  }));
}

/** A step of the trace of the request that the relay is for. */
export async function traceRelay<T>(
  db: Db,
  id: string,
  step: { readonly name: string; readonly hash: bigint | undefined; readonly sinceStored?: boolean },
  run: () => Promise<T>,
): Promise<T> {
  if (!isTraced()) return run();
  const row = await db.one<{ kind: string; parent: string | null; stored: Date }>(sql`
    select kind, traceparent as parent, created_at as stored from relays where id = ${id}`);
  if (!row?.parent) return run();
  const hash = step.hash === undefined ? {} : { 'svc.transaction.hash': toHex(step.hash) };
  const attributes = { 'svc.relay.id': id, 'svc.relay.kind': row.kind, ...hash };
  const { parent, stored } = row;
  return traced(step.name, { parent, attributes, ...(step.sinceStored && { startedAt: stored }) }, run);
}

/** Repeating is safe: the same bytes have the same hash. */
export async function sendAttempt(
  db: Db,
  chain: StarknetChain,
  relayId: string,
  signed: SignedInvoke,
): Promise<SendOutcome> {
  const outcome = await offerAttempt(db, chain, relayId, signed);
  if (outcome.outcome === 'sent') await markSent(db, chain.chainId, [{ id: relayId, hash: signed.hash }]);
  return outcome;
}

/** To a node. What it took is marked next. */
export function offerAttempt(
  db: Db,
  chain: StarknetChain,
  relayId: string,
  signed: SignedInvoke,
): Promise<SendOutcome> {
  return traceRelay(db, relayId, { name: 'relay send', hash: signed.hash }, () => chain.send(signed));
}

export async function markSent(
  db: Db,
  chainId: bigint,
  relays: readonly { readonly id: string; readonly hash: bigint }[],
): Promise<void> {
  const [ids, hashes] = [relays.map(({ id }) => id), relays.map(({ hash }) => toHex(hash))];
  await db.run(sql`
    with taken as (
      update relay_attempts set taken_at = now()
       where chain_id = ${toHex(chainId)} and hash = any (${hashes}) and taken_at is null)
    update relays set state = 'SENT', updated_at = now()
     where id in (select id from relays where id = any (${ids}) and state = 'STORED' order by id for update)`);
}

export async function markMissing(db: Db, relayId: string): Promise<void> {
  await db.run(sql`
    update relays set missing_since = now() where id = ${relayId} and state in ('STORED', 'SENT') and missing_since is null`);
}

export async function lockState(tx: Db, id: string): Promise<RelayState> {
  const state = (await lockStates(tx, [id])).get(id);
  if (!state) throw new Error(`There is no relay ${id}.`);
  return state;
}

/** In one order, so that two transactions do not wait for each other. */
export async function lockStates(tx: Db, ids: readonly string[]): Promise<ReadonlyMap<string, RelayState>> {
  const rows = await tx.rows<{ id: string; state: RelayState }>(sql`
    select id, state from relays where id = any (${ids}) order by id for update`);
  return new Map(rows.map(({ id, state }) => [id, state]));
}

export interface Reopened {
  readonly id: string;
  readonly environment: Environment;
  readonly account: string | undefined;
}

export function reopenRelays(tx: Db, chainId: bigint, aboveBlock: number): Promise<Reopened[]> {
  return reopen(tx, chainId, sql`block_number > ${aboveBlock}`);
}

export async function reopen(tx: Db, chainId: bigint, which: Sql): Promise<Reopened[]> {
  const rows = await tx.rows<{ id: string; environment: Environment; account: string | null }>(sql`
    update relays
       set state = 'SENT', block_number = null, block_hash = null, revert_reason = null, first_since = null,
           missing_since = null, refused_since = null, looked_at = null, outcome_failures = 0,
           updated_at = now()
     where chain_id = ${toHex(chainId)} and (state in ('SUCCEEDED', 'REVERTED', 'VOIDED') or looked_at is not null) and ${which}
    returning id, environment, account`);
  const accounts = new Map(rows.flatMap(({ account, environment }) => (account ? [[account, environment]] : [])));
  await enqueueMany(
    tx,
    [...accounts].map(([account, environment]) => relayWorkerJob(environment, chainId, account)),
  );
  return rows.map((row) => ({ ...row, account: row.account ?? undefined }));
}

/** A manager transaction has no deadline: it is retried until it ends or is abandoned. */
export const NO_DEADLINE = new Date('9999-01-01T00:00:00Z');

/** Only a filler is sent for it from now on, also after a reorganisation. False, without change, while it is open or when it succeeded. */
export async function abandonRelay(tx: Db, relayId: string): Promise<boolean> {
  const failed: readonly RelayState[] = ['REVERTED', 'VOIDED'];
  if (!failed.includes(await lockState(tx, relayId))) return false;
  await tx.run(sql`update relays set not_after = to_timestamp(0), updated_at = now() where id = ${relayId}`);
  return true;
}

export async function reinstateRelay(tx: Db, relayId: string): Promise<void> {
  await tx.run(sql`update relays set not_after = ${NO_DEADLINE} where id = ${relayId} and not_after < ${NO_DEADLINE}`);
}

/** The database's clock is the same for all processes. A test clock adds its offset. */
export async function databaseTime(reads: Reads, now: () => number = Date.now): Promise<Date> {
  const row = await reads.one<{ at: Date }>(sql`select now() as at`);
  if (!row) throw new Error('The database does not tell the time.');
  return new Date(row.at.getTime() + now() - Date.now());
}

/** Longer than a short node failure, shorter than an HTTP client waits. */
const MAX_WAIT_MS = 20_000;
const FIRST_POLL_MS = 50;
const MAX_POLL_MS = 1_000;

export async function awaitSubmitted(
  reads: Reads,
  id: string,
  pause: (ms: number) => Promise<unknown>,
  maxWaitMs = MAX_WAIT_MS,
): Promise<Relayed> {
  let waitedMs = 0;
  for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(pollMs * 2, MAX_POLL_MS)) {
    const relay = await findRelay(reads, id);
    if (!relay) throw new Error(`The relay ${id} is gone.`);
    if (relay.state === 'VOIDED') throw voided();
    if (relay.state !== 'STORED' && relay.hash !== undefined) return { id, hash: relay.hash };
    if (waitedMs >= maxWaitMs) throw notSubmitted(relay);
    await pause(pollMs);
    waitedMs += pollMs;
  }
}

function voided(): ApiError {
  return new ApiError(
    'typed_data_expired',
    'The chain did not execute this in time, and it never will. Prepare it again and sign it anew.',
  );
}

function notSubmitted({ hash }: Relay): ApiError {
  const name = hash === undefined ? 'the transaction' : `transaction ${toHex(hash)}`;
  return new ApiError(
    'chain_unavailable',
    `The chain has not taken ${name} yet. It is stored and will be sent, so do not sign anew: send the same request again to get its answer.`,
  );
}

export interface RelayWorkerPayload {
  readonly account: string;
  /** A node took what there was to send: its receipts are read first. Another job of the account may take its place. */
  readonly isSent?: boolean | undefined;
}

export function relayWorkerJob(
  environment: Environment,
  chainId: bigint,
  account: string,
  { runAt, isSent }: { readonly runAt?: Date; readonly isSent?: boolean | undefined } = {},
): NewJob {
  const payload: RelayWorkerPayload = { account, isSent };
  const queue = `relayer ${toHex(chainId)} ${account}`;
  return { task: relayWorkerTask(environment), payload, key: account, queue, isShared: true, ...(runAt && { runAt }) };
}

/** Per environment: a process runs only jobs of networks it has. */
export const relayWorkerTask = (environment: Environment): string => `tend-relayer-${environment}`;

export interface StoredCalls {
  readonly calls: readonly { readonly to: string; readonly selector: string; readonly calldata: readonly string[] }[];
}

export function writeCalls(calls: readonly Call[]): StoredCalls {
  return {
    calls: calls.map(({ to, selector, calldata }) => ({
      to: toHex(to),
      selector: toHex(selector),
      calldata: calldata.map(toHex),
    })),
  };
}

export function readCalls({ calls }: StoredCalls): Call[] {
  return calls.map(({ to, selector, calldata }) => ({
    to: BigInt(to),
    selector: BigInt(selector),
    calldata: calldata.map(BigInt),
  }));
}

export async function callsOf(db: Reads, relayId: string): Promise<Call[]> {
  const row = await db.one<{ content: StoredCalls }>(sql`select content from relays where id = ${relayId}`);
  if (!row) throw new Error(`The relay ${relayId} is gone.`);
  return readCalls(row.content);
}
