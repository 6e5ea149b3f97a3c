import { ApiError, type Environment, type RedeemStatus, type UsdMicros } from '@svc/protocol';
import { type Call, selector, toHex } from '@svc/starknet';
import { type Database, type Db, type Reads, type Sql, sql } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import { padAddress, type Transfer, transfersIn } from '../chains/starknet/chain.ts';
import { enqueue, type JobHandler, type JobHandlers, type JobLog, type RecurringJob } from '../jobs/job.ts';
import type { OutcomeHandlers, RelayOutcome } from '../relayer/outcome.ts';
import type { PayAnswer, Payer } from '../relayer/payer.ts';
import type { StoredRelay } from '../relayer/relay.ts';
import { abandonRelay, reinstateRelay } from '../relayer/relay-store.ts';
import { newId } from '../util/ids.ts';
import { errorText } from '../util/text.ts';
import { endRedeems, payoutJob, payoutTask, type RedeemEnd } from './redeem.ts';

/** A transfer is seven felts of calldata, so this many stay far below what a sequencer takes, in calldata as in gas. */
export const MAX_IN_PAYOUT = 60;
/** What counts as paid and cannot be paid again is for the operator to look at, not to be tried all the time. */
const OWED_AGAIN_SECONDS = 3_600;

/** `POOR`: more waits than the manager can pay. */
export type PaidOut = 'DONE' | 'INSUFFICIENT_FUNDS';

/**
 * Pays everything that waits, many at once. What arrives while one payout is estimated, stored and sent goes into the next.
 * Throws where the chain cannot be asked; nothing is changed then, and it can be begun again.
 */
export async function runPayouts(deps: PayoutDeps, environment: Environment, signal?: AbortSignal): Promise<PaidOut> {
  while (!signal?.aborted) {
    const waiting = await waitingRedeems(deps.db, environment, MAX_IN_PAYOUT);
    if (waiting.length === 0) return 'DONE';
    const payable = await affordable(deps, environment, waiting);
    for (const batch of gathered(payable)) await payBatch(deps, environment, batch);
    if (payable.length < waiting.length) return 'INSUFFICIENT_FUNDS';
  }
  return 'DONE';
}

/** As many as the manager can pay, in their order, whatever of the payouts under way the chain has executed. */
async function affordable(
  deps: PayoutDeps,
  environment: Environment,
  waiting: readonly DueRedeem[],
): Promise<DueRedeem[]> {
  const { db, networks, payer, log } = deps;
  const { chain } = networks.starknet(environment);
  const manager = payer.manager(environment);
  const underWay = await sumUnderWay(db, chain.chainId, padAddress(manager));
  // After what is under way was read: what ends in between counts twice, never not at all.
  const balance = await chain.balanceOf(usdcOf(networks, environment), manager, 'pre_confirmed');
  let left = balance - underWay;
  const payable = waiting.filter(({ amount }) => {
    if (left < amount) return false;
    left -= amount;
    return true;
  });
  if (payable.length < waiting.length) {
    const about = { environment, balanceUsdc: String(balance), underWay: String(underWay), waiting: waiting.length };
    log.error(about, 'the manager lacks USDC to pay what waits');
  }
  return payable;
}

function gathered(redeems: readonly DueRedeem[]): DueRedeem[][] {
  const together = redeems.filter(({ alone }) => !alone);
  const singles = redeems.filter(({ alone }) => alone).map((redeem) => [redeem]);
  return together.length > 0 ? [together, ...singles] : singles;
}

/** One that would revert is found by halving, so it harms nobody else. */
async function payBatch(deps: PayoutDeps, environment: Environment, batch: readonly DueRedeem[]): Promise<void> {
  const [first, ...others] = batch;
  if (!first) return;
  const answer = await payTogether(deps, environment, first, batch).catch((error: unknown) => {
    // Many may cost more than one transaction may, where each does not.
    if (others.length > 0 && error instanceof ApiError && error.code === 'fee_too_high') return undefined;
    throw error;
  });
  if (answer?.ok) return;
  if (answer && others.length === 0) return refuse(deps, first, answer.reason);
  const half = Math.ceil(batch.length / 2);
  await payBatch(deps, environment, batch.slice(0, half));
  await payBatch(deps, environment, batch.slice(half));
}

function payTogether(
  { networks, payer }: PayoutDeps,
  environment: Environment,
  first: DueRedeem,
  batch: readonly DueRedeem[],
): Promise<PayAnswer> {
  const usdc = usdcOf(networks, environment);
  const calls = batch.map((redeem) => transferOf(usdc, redeem));
  // The rows decide what may be paid; the name only has to be new.
  const purpose = `payout ${first.id} ${newId('pay')}`;
  const order = { environment, kind: 'payout', purpose, calls } as const;
  return payer.pay(order, (tx, relay) => putIntoPayout(tx, batch, relay));
}

function transferOf(usdc: bigint, { address, amount }: DueRedeem): Call {
  return { to: usdc, selector: selector('transfer'), calldata: [BigInt(address), amount, 0n] };
}

/** Nothing was sent, so there is nothing to wait for. */
async function refuse({ db, log }: PayoutDeps, { id, status }: DueRedeem, reason: string): Promise<void> {
  if (status === 'SUCCESS') {
    log.error({ redeemId: id, reason }, 'a redeem whose payment was reorganised away cannot be paid again');
    return postpone(db, id, OWED_AGAIN_SECONDS);
  }
  log.warn({ redeemId: id, reason }, 'a payout would revert');
  await db.tx((tx) => endRedeems(tx, [{ id, end: 'FAILED', reason }]));
}

type Deps = Pick<PayoutDeps, 'networks' | 'log'>;

const REVERTED = 'The payout reverted.';

/** What the end of a payout means for its redeems. It can come again, also with another result, after a reorganisation. */
export function payoutOutcomes(deps: Deps): Pick<OutcomeHandlers, 'payout'> {
  return {
    payout: async (tx, outcome) => {
      const redeems = await redeemsOf(tx, outcome.relayId);
      if (outcome.result === 'SUCCEEDED') await markRedeemsPaid(tx, deps, outcome, redeems);
      else await endUnpaid(tx, deps, outcome, redeems);
    },
  };
}

/** The events say who was paid, and nothing else does. What throws leaves the payout open, and it is read again. */
async function markRedeemsPaid(
  tx: Db,
  deps: Deps,
  outcome: RelayOutcome,
  redeems: readonly DueRedeem[],
): Promise<void> {
  const { relayId, hash, receipt, environment, account } = outcome;
  const { log } = deps;
  if (!receipt || hash === undefined) throw new Error('A payout has succeeded without a receipt.');
  const usdc = usdcOf(deps.networks, environment);
  const transfers = transfersIn(receipt).filter(({ token, from }) => token === usdc && from === account);
  const paid = matchRedeems(redeems, transfers);
  if (transfers.length !== paid.size) {
    log.error(
      { relayId, hash: toHex(hash), transfers: transfers.length, redeems: paid.size },
      'a payout paid somebody else',
    );
  } else await reinstateRelay(tx, relayId);
  const unpaid = redeems.filter(({ id }) => !paid.has(id)).map(({ id }) => id);
  // A payout that has succeeded has paid everybody: a receipt that shows less is not all of it, and must not make anyone redeem again.
  if (unpaid.length > 0) throw new Error(`The receipt of ${toHex(hash)} lacks the transfers of ${unpaid.join(', ')}.`);
  const ends = redeems.map(({ id }): RedeemEnd => ({ id, end: 'SUCCESS', transactionHash: toHex(hash) }));
  await endRedeems(tx, ends, log);
}

/**
 * One that reverted alone has failed, and nothing of it is sent any more. All others stay with their payout until it is over for
 * good: a reorganisation may still have it executed.
 */
async function endUnpaid(tx: Db, { log }: Deps, outcome: RelayOutcome, redeems: readonly DueRedeem[]): Promise<void> {
  const { relayId, result, revertReason } = outcome;
  log.warn({ relayId, result, reason: revertReason, redeems: redeems.length }, 'a payout was not made');
  const [only, ...others] = redeems;
  if (result !== 'REVERTED' || others.length > 0 || only?.status !== 'PENDING') return;
  await endRedeems(tx, [{ id: only.id, end: 'FAILED', reason: revertReason ?? REVERTED }]);
  await abandonRelay(tx, relayId);
}

/** Those that are paid: each has a transfer to its address, of its amount, that no other has. */
export function matchRedeems(redeems: readonly DueRedeem[], transfers: readonly Transfer[]): ReadonlySet<string> {
  const left = new Map<string, number>();
  for (const { to, amount } of transfers) {
    const what = nameOf(to, amount);
    left.set(what, (left.get(what) ?? 0) + 1);
  }
  const paid = redeems.filter(({ address, amount }) => {
    const what = nameOf(BigInt(address), amount);
    const count = left.get(what) ?? 0;
    left.set(what, count - 1);
    return count > 0;
  });
  return new Set(paid.map(({ id }) => id));
}

const nameOf = (to: bigint, amount: bigint): string => `${to} ${amount}`;

/** At one look, a few questions each; the next one goes on. */
const MAX_LOOKED_AT = 100;

/**
 * Redeems of payouts that reverted or were never executed wait again, once their payout is over for good: before that a
 * reorganisation could have it executed besides the next one. Answers how many there were.
 */
export async function requeueFailedPayouts(
  { db, networks, payer, log }: PayoutDeps,
  environment: Environment,
): Promise<number> {
  const { chainId } = networks.starknet(environment).chain;
  let freed = 0;
  for (const relayId of await unpaidPayouts(db, chainId, MAX_LOOKED_AT)) {
    try {
      if (!(await payer.isOverForGood(environment, relayId))) continue;
      freed += await db.tx(async (tx) => ((await abandonRelay(tx, relayId)) ? freeRedeems(tx, relayId) : 0));
    } catch (error) {
      log.warn({ relayId, reason: errorText(error) }, 'the end of a payout could not be read');
    }
  }
  return freed;
}

/** Somebody waits for the money, and nodes come back within seconds. */
const TRY_AGAIN_MS = 1_000;
/** Money comes when the operator sends it. */
const FUNDS_RETRY_MS = 15_000;
const SWEEP_SECONDS = 15;

export interface PayoutJobDeps extends PayoutDeps {
  /** Those whose chain this process reaches, and that have a manager. */
  readonly environments: readonly Environment[];
}

export function payoutJobs(deps: PayoutJobDeps): { handlers: JobHandlers; recurring: readonly RecurringJob[] } {
  const sweepTask = (environment: Environment) => `sweep-payouts-${environment}`;
  const handlers = deps.environments.flatMap((environment): [string, JobHandler<never>][] => [
    [payoutTask(environment), payWaiting(deps, environment)],
    [sweepTask(environment), () => sweep(deps, environment)],
  ]);
  return {
    handlers: Object.fromEntries(handlers),
    recurring: deps.environments.map((each) => ({ task: sweepTask(each), everySeconds: SWEEP_SECONDS })),
  };
}

function payWaiting(deps: PayoutJobDeps, environment: Environment): JobHandler<never> {
  const again = (ms: number) => enqueue(deps.db, { ...payoutJob(environment), runAt: new Date(Date.now() + ms) });
  return async (_, { signal }) => {
    try {
      if ((await runPayouts(deps, environment, signal)) === 'INSUFFICIENT_FUNDS') await again(FUNDS_RETRY_MS);
    } catch (error) {
      if (!isPassing(error)) throw error;
      deps.log.warn({ environment, reason: errorText(error) }, 'payouts wait for the chain');
      await again(TRY_AGAIN_MS);
    }
  };
}

/** Nothing was stored, and the same may work in a moment. */
const isPassing = (error: unknown): boolean =>
  error instanceof ApiError && (error.code === 'chain_unavailable' || error.code === 'fee_too_high');

/** Frees what may be paid anew, and finds what no job looks after any more. */
async function sweep(deps: PayoutJobDeps, environment: Environment): Promise<void> {
  await requeueFailedPayouts(deps, environment);
  const [waiting] = await waitingRedeems(deps.db, environment, 1);
  if (waiting) await enqueue(deps.db, payoutJob(environment));
}

export interface PayoutDeps {
  readonly db: Database;
  readonly networks: Pick<Networks, 'starknet' | 'token'>;
  readonly payer: Payer;
  readonly log: JobLog;
}

/** Where USDC is on an environment's Starknet; its smallest unit is a millionth, as that of credits. */
export function usdcOf(networks: PayoutDeps['networks'], environment: Environment): bigint {
  const address = networks.token(environment, 'STARKNET', 'USDC')?.address;
  if (!address) throw new Error(`There is no USDC on the Starknet of ${environment}.`);
  return BigInt(address);
}

/** A redeem, as far as paying it needs to know. */
export interface DueRedeem {
  readonly id: string;
  readonly address: string;
  readonly amount: UsdMicros;
  readonly status: RedeemStatus;
  /** Not gathered with others. */
  readonly alone: boolean;
}

const dueColumns = sql`id, address, amount_micros as amount, status, alone`;

/**
 * In no payout: nobody has paid it yet, or a reorganisation took the payment away after it had counted as paid. The latter were put
 * here by `freeRedeems` and are always alone. The last line says nothing new, but the index is found by it.
 */
const waiting: Sql = sql`
  destination_chain = 'starknet' and relay_id is null and (status = 'PENDING' or status = 'SUCCESS' and alone)
    and status in ('PENDING', 'SUCCESS')`;

/** The oldest first. */
export function waitingRedeems(reads: Reads, environment: Environment, limit: number): Promise<DueRedeem[]> {
  return reads.rows<DueRedeem>(sql`
    select ${dueColumns} from gift_redeems
     where environment = ${environment} and ${waiting} and coalesce(not_before <= now(), true)
     order by created_at, id limit ${limit}`);
}

export interface Waiting {
  readonly environment: Environment;
  readonly count: number;
  readonly oldestSeconds: number;
}

export async function countWaiting(reads: Reads): Promise<Waiting[]> {
  const rows = await reads.rows<{ environment: Environment; count: bigint; oldest: number }>(sql`
    select environment, count(*) as count, extract(epoch from now() - min(created_at))::float8 as oldest
      from gift_redeems where ${waiting} group by environment`);
  return rows.map(({ environment, count, oldest }) => ({
    environment,
    count: Number(count),
    oldestSeconds: Math.max(0, oldest),
  }));
}

/** What is on its way, or may be: more than the chain has yet taken off the manager's balance. */
export async function sumUnderWay(reads: Reads, chainId: bigint, manager: string): Promise<UsdMicros> {
  const row = await reads.one<{ sum: bigint }>(sql`
    select coalesce(sum(share_micros), 0)::bigint as sum
      from relays join gift_redeems on relay_id = relays.id
     where chain_id = ${toHex(chainId)} and account = ${manager} and state in ('STORED', 'SENT')`);
  return row?.sum ?? 0n;
}

/** Puts redeems into a payout, all of them or none: what is in another one, or has ended, is not paid again. */
export async function putIntoPayout(tx: Db, redeems: readonly DueRedeem[], { id, hash }: StoredRelay): Promise<void> {
  const ids = redeems.map((redeem) => redeem.id);
  const changed = await tx.run(sql`
    update gift_redeems
       set relay_id = ${id}, updated_at = now(),
           transaction_hash = ${hash === undefined ? null : toHex(hash)}
     where id = any(${ids}) and ${waiting}`);
  if (changed !== ids.length) throw new Error('Some redeems of a payout are in another one, or have ended.');
}

export function redeemsOf(db: Db, relayId: string): Promise<DueRedeem[]> {
  return db.rows<DueRedeem>(sql`
    select ${dueColumns} from gift_redeems where relay_id = ${relayId} order by created_at, id`);
}

/** They wait to be paid again, each by itself, because one of them may be why their payout failed. */
export async function freeRedeems(tx: Db, relayId: string): Promise<number> {
  return tx.run(sql`
    update gift_redeems set relay_id = null, alone = true, updated_at = now()
     where relay_id = ${relayId} and status in ('PENDING', 'SUCCESS')`);
}

/** Nothing is tried before that. */
export async function postpone(db: Db, id: string, seconds: number): Promise<void> {
  await db.run(sql`
    update gift_redeems set not_before = now() + make_interval(secs => ${seconds}), updated_at = now() where id = ${id}`);
}

/** Payouts that ended without paying, and whose redeems are still theirs, the oldest first. */
export async function unpaidPayouts(reads: Reads, chainId: bigint, limit: number): Promise<string[]> {
  const rows = await reads.rows<{ id: string }>(sql`
    select id from relays
     where chain_id = ${toHex(chainId)} and state in ('REVERTED', 'VOIDED') and account is not null and kind = 'payout'
       and not_after > now()
     order by created_at limit ${limit}`);
  return rows.map(({ id }) => id);
}
