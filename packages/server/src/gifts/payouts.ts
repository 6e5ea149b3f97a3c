import { setTimeout as pause } from 'node:timers/promises';
import { ApiError, type Environment } from '@svc/protocol';
import { type Call, selector, toHex } from '@svc/starknet';
import { type Database, type Db, sentTogether } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import { type Transfer, transfersIn } from '../chains/starknet/chain.ts';
import {
  enqueue,
  type JobHandler,
  type JobHandlers,
  type JobLog,
  type NewJob,
  type RecurringJob,
} from '../jobs/job.ts';
import type { OutcomeHandlers, RelayOutcome } from '../relayer/outcome.ts';
import {
  availableFunds,
  type FundedPayAnswer,
  type ManagerFunds,
  markerCalls,
  type Payer,
  payFromFunds,
  readManagerFunds,
} from '../relayer/payer.ts';
import { abandonRelay, reinstateRelay } from '../relayer/relay-store.ts';
import { UnreconciledError } from '../relayer/unknown-nonces.ts';
import { laneOf, newId } from '../util/ids.ts';
import { usdcOf } from './gift.ts';
import {
  affordableRedeems,
  type DueRedeem,
  failedPayouts,
  lockWaiting,
  postponeRedeem,
  putIntoPayout,
  redeemsOf,
  requeueRedeems,
  waitingRedeems,
} from './payout-store.ts';
import { endRedeems, type RedeemEnd } from './redeem.ts';

export interface PayoutDeps {
  readonly db: Database;
  readonly networks: Pick<Networks, 'starknet' | 'token'>;
  readonly payer: Payer;
  readonly log: JobLog;
}

/** A transfer and its marker are ten felts of calldata: far below a sequencer's limits on calldata and gas. */
export const MAX_IN_PAYOUT = 60;
const OWED_RETRY_SECONDS = 3_600;

/** `INSUFFICIENT_FUNDS`: the queue exceeds the manager's balance. */
export type PayoutResult = 'DONE' | 'INSUFFICIENT_FUNDS';

/** Each round pays at least one redeem or is the last. Throws where the chain is unavailable; then nothing has changed. */
export async function runPayouts(
  deps: PayoutDeps,
  environment: Environment,
  signal?: AbortSignal,
): Promise<PayoutResult> {
  while (!signal?.aborted) {
    const oldest = await waitingRedeems(deps.db, environment, MAX_IN_PAYOUT);
    if (oldest.length === 0) return 'DONE';
    const [funds] = await Promise.all([
      readManagerFunds(deps, environment, usdcOf(deps.networks, environment)),
      deps.payer.requireReconciled(environment),
    ]);
    const redeems = await selectAffordable(deps, environment, oldest, availableFunds(funds));
    if (redeems.length === 0) return insufficient(deps, funds);
    for (const batch of toBatches(redeems)) {
      if (!(await payBatch(deps, funds, batch))) return insufficient(deps, funds);
    }
  }
  return 'DONE';
}

function insufficient({ log }: PayoutDeps, { environment, balance, pending }: ManagerFunds): PayoutResult {
  const fields = { environment, balanceUsdc: String(balance), pendingUsdc: String(pending) };
  log.error(fields, 'manager balance too low for pending payouts');
  return 'INSUFFICIENT_FUNDS';
}

async function selectAffordable(
  { db }: PayoutDeps,
  environment: Environment,
  oldest: readonly DueRedeem[],
  available: bigint,
): Promise<readonly DueRedeem[]> {
  if (oldest.reduce((sum, { amount }) => sum + amount, 0n) <= available) return oldest;
  const selected: DueRedeem[] = [];
  let left = available;
  for (const redeem of await affordableRedeems(db, environment, available, MAX_IN_PAYOUT)) {
    if (redeem.amount <= left) {
      selected.push(redeem);
      left -= redeem.amount;
    } else if (redeem.overdue) break;
  }
  return selected;
}

function toBatches(redeems: readonly DueRedeem[]): DueRedeem[][] {
  const together = redeems.filter(({ alone }) => !alone);
  const singles = redeems.filter(({ alone }) => alone).map((redeem) => [redeem]);
  return together.length > 0 ? [together, ...singles] : singles;
}

/** Halves a batch that would revert until the redeem at fault is alone. False where the funds do not cover it. */
async function payBatch(deps: PayoutDeps, funds: ManagerFunds, batch: readonly DueRedeem[]): Promise<boolean> {
  const [first, ...others] = batch;
  if (!first) return true;
  const answer = await payTogether(deps, funds, first, batch).catch((error: unknown) => {
    if (others.length > 0 && error instanceof ApiError && error.code === 'fee_too_high') return undefined;
    throw error;
  });
  if (answer?.ok) return true;
  if (answer?.cause === 'INSUFFICIENT_FUNDS') return false;
  if (answer && others.length === 0) {
    await refuse(deps, first, answer.reason);
    return true;
  }
  const half = Math.ceil(batch.length / 2);
  return (await payBatch(deps, funds, batch.slice(0, half))) && payBatch(deps, funds, batch.slice(half));
}

function payTogether(
  deps: PayoutDeps,
  funds: ManagerFunds,
  first: DueRedeem,
  batch: readonly DueRedeem[],
): Promise<FundedPayAnswer> {
  const { environment, token } = funds;
  const calls = batch.flatMap((redeem) => [
    transferOf(token, redeem),
    ...markerCalls(token, { kind: 'payout', id: redeem.id, giftId: redeem.giftId }),
  ]);
  // `putIntoPayout` prevents a second payment, so the purpose only has to be unique.
  const purpose = `payout ${first.id} ${newId('pay')}`;
  const order = { environment, kind: 'payout', purpose, calls } as const;
  return payFromFunds(deps, funds, order, (tx, relay) => putIntoPayout(tx, batch, relay));
}

function transferOf(usdc: bigint, { address, amount }: DueRedeem): Call {
  return { to: usdc, selector: selector('transfer'), calldata: [BigInt(address), amount, 0n] };
}

async function refuse({ db, log }: PayoutDeps, redeem: DueRedeem, reason: string): Promise<void> {
  const { id, status } = redeem;
  if (status === 'SUCCESS') {
    log.error({ redeemId: id, reason }, 'redeem lost its payment in a reorg and cannot be paid again');
    return postponeRedeem(db, id, OWED_RETRY_SECONDS);
  }
  const isFailed = await db.tx(async (tx) => {
    if (!(await lockWaiting(tx, redeem))) return false;
    await endRedeems(tx, [{ id, end: 'FAILED', reason }]);
    return true;
  });
  if (isFailed) log.warn({ redeemId: id, reason }, 'payout would revert');
}

type OutcomeDeps = Pick<PayoutDeps, 'networks' | 'log'>;

const REVERTED = 'The payout reverted.';

export function payoutOutcomes(deps: OutcomeDeps): Pick<OutcomeHandlers, 'payout'> {
  return {
    payout: async (tx, outcome) => {
      const redeems = await redeemsOf(tx, outcome.relayId);
      if (outcome.result === 'SUCCEEDED') await markRedeemsPaid(tx, deps, outcome, redeems);
      else await endUnpaid(tx, deps, outcome, redeems);
    },
  };
}

/** Only the transfer events prove a payment. An error leaves the payout open, and its receipt is read again. */
async function markRedeemsPaid(
  tx: Db,
  deps: OutcomeDeps,
  outcome: RelayOutcome,
  redeems: readonly DueRedeem[],
): Promise<void> {
  const { relayId, hash, receipt, environment, account } = outcome;
  const { log } = deps;
  if (!receipt || hash === undefined) throw new Error('A payout has succeeded without a receipt.');
  const usdc = usdcOf(deps.networks, environment);
  const transfers = transfersIn(receipt).filter(({ token, from }) => token === usdc && from === account);
  const paid = matchRedeems(redeems, transfers);
  const isExact = transfers.length === paid.size;
  if (!isExact) {
    const fields = { relayId, hash: toHex(hash), transfers: transfers.length, redeems: paid.size };
    log.error(fields, 'payout has transfers without a redeem');
  }
  const unpaid = redeems.filter(({ id }) => !paid.has(id)).map(({ id }) => id);
  if (unpaid.length > 0) throw new Error(`The receipt of ${toHex(hash)} lacks the transfers of ${unpaid.join(', ')}.`);
  const paidAs = { end: 'SUCCESS', transactionHash: toHex(hash), at: outcome.confirmedAt } as const;
  const ends = redeems.map(({ id }): RedeemEnd => ({ id, ...paidAs }));
  await sentTogether([...(isExact ? [reinstateRelay(tx, relayId)] : []), endRedeems(tx, ends, log)]);
}

/** Redeems stay with their payout until its failure is final; a single one fails at once, and its payout is abandoned. */
async function endUnpaid(
  tx: Db,
  { log }: OutcomeDeps,
  outcome: RelayOutcome,
  redeems: readonly DueRedeem[],
): Promise<void> {
  const { relayId, result, revertReason } = outcome;
  log.warn({ relayId, result, reason: revertReason, redeems: redeems.length }, 'payout failed');
  const [only, ...others] = redeems;
  if (result !== 'REVERTED' || others.length > 0 || only?.status !== 'PENDING') return;
  await endRedeems(tx, [{ id: only.id, end: 'FAILED', reason: revertReason ?? REVERTED }]);
  await abandonRelay(tx, relayId);
}

export function matchRedeems(redeems: readonly DueRedeem[], transfers: readonly Transfer[]): ReadonlySet<string> {
  const unmatched = new Map<string, number>();
  for (const { to, amount } of transfers) {
    const key = transferKey(to, amount);
    unmatched.set(key, (unmatched.get(key) ?? 0) + 1);
  }
  const paid = redeems.filter(({ address, amount }) => {
    const key = transferKey(BigInt(address), amount);
    const count = unmatched.get(key) ?? 0;
    unmatched.set(key, count - 1);
    return count > 0;
  });
  return new Set(paid.map(({ id }) => id));
}

const transferKey = (to: bigint, amount: bigint): string => `${to} ${amount}`;

const MAX_CHECKED = 100;

/** Before the failure is final a reorganisation could execute the old payout besides the new one. */
export async function requeueFailedPayouts(
  { db, networks, payer, log }: PayoutDeps,
  environment: Environment,
): Promise<number> {
  const { chainId } = networks.starknet(environment).chain;
  let requeued = 0;
  for (const relayId of await failedPayouts(db, chainId, MAX_CHECKED)) {
    try {
      if (!(await payer.isFailureFinal(environment, relayId))) continue;
      requeued += await db.tx(async (tx) => ((await abandonRelay(tx, relayId)) ? requeueRedeems(tx, relayId) : 0));
    } catch (error) {
      log.warn({ relayId, err: error }, 'payout finality check failed');
    }
  }
  return requeued;
}

export const payoutTask = (environment: Environment): string => `payout-${environment}`;

/** A reservation locks its job's row until it commits; one row would serialise an environment. */
const LANES = 8;

/** One payout job runs at a time and pays for all that wait. */
export function payoutJob(environment: Environment, redeemId = ''): NewJob {
  const task = payoutTask(environment);
  return { task, payload: { environment }, key: `${environment} ${laneOf(redeemId, LANES)}`, queue: task };
}

/** A payout takes longer, so that its job finds all that came meanwhile. */
const WAKE_EVERY_MS = 10;

/** Redeems of the same moment share one job. Where it cannot be stored, the sweep finds what waits. */
export class PayoutWaker {
  readonly #db: Pick<Database, 'control'>;
  readonly #log: Pick<JobLog, 'warn'>;
  /** Environments that are being woken; true where another redeem came meanwhile. */
  readonly #woken = new Map<Environment, boolean>();

  constructor(db: Pick<Database, 'control'>, log: Pick<JobLog, 'warn'>) {
    this.#db = db;
    this.#log = log;
  }

  wake(environment: Environment): void {
    const isWaking = this.#woken.has(environment);
    this.#woken.set(environment, isWaking);
    if (!isWaking) void this.#wake(environment);
  }

  async #wake(environment: Environment): Promise<void> {
    do {
      this.#woken.set(environment, false);
      await enqueue(this.#db.control, payoutJob(environment)).catch((error: unknown) =>
        this.#log.warn({ environment, err: error }, 'payout job not stored, the sweep enqueues it'),
      );
      await pause(WAKE_EVERY_MS);
    } while (this.#woken.get(environment));
    this.#woken.delete(environment);
  }
}

const RETRY_MS = 1_000;
const FUNDS_RETRY_MS = 15_000;
const STOPPED_RETRY_MS = 15_000;
const SWEEP_SECONDS = 15;

export interface PayoutJobDeps extends PayoutDeps {
  readonly environments: readonly Environment[];
}

export function payoutJobs(deps: PayoutJobDeps): { handlers: JobHandlers; recurring: readonly RecurringJob[] } {
  const sweepTask = (environment: Environment) => `sweep-payouts-${environment}`;
  const handlers = deps.environments.flatMap((environment): [string, JobHandler<never>][] => [
    [payoutTask(environment), payoutHandler(deps, environment)],
    [sweepTask(environment), () => sweepPayouts(deps, environment)],
  ]);
  return {
    handlers: Object.fromEntries(handlers),
    recurring: deps.environments.map((each) => ({ task: sweepTask(each), everySeconds: SWEEP_SECONDS })),
  };
}

function payoutHandler(deps: PayoutJobDeps, environment: Environment): JobHandler<never> {
  const retryIn = (ms: number) => enqueue(deps.db, { ...payoutJob(environment), runAt: new Date(Date.now() + ms) });
  return async (_, { signal }) => {
    try {
      if ((await runPayouts(deps, environment, signal)) === 'INSUFFICIENT_FUNDS') await retryIn(FUNDS_RETRY_MS);
    } catch (error) {
      if (!isTransient(error)) throw error;
      const isStopped = error instanceof UnreconciledError && error.isCertain;
      if (isStopped) deps.log.error({ environment, err: error }, 'payouts stopped until the manager is reconciled');
      else deps.log.warn({ environment, err: error }, 'payouts wait for the chain');
      await retryIn(isStopped ? STOPPED_RETRY_MS : RETRY_MS);
    }
  };
}

const isTransient = (error: unknown): boolean =>
  error instanceof ApiError && (error.code === 'chain_unavailable' || error.code === 'fee_too_high');

async function sweepPayouts(deps: PayoutJobDeps, environment: Environment): Promise<void> {
  await requeueFailedPayouts(deps, environment);
  const [waiting] = await waitingRedeems(deps.db, environment, 1);
  if (waiting) await enqueue(deps.db, payoutJob(environment));
}
