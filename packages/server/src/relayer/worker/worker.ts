import type { Environment } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { sql } from '@svc/store';
import { enqueue, enqueueMany, type JobHandler, type JobHandlers, type RecurringJob } from '../../jobs/job.ts';
import { allKeys, checkNonce, nextNonces, readBalances } from '../accounts.ts';
import { type RelayWorkerPayload, relayWorkerJob, relayWorkerTask } from '../relay-store.ts';
import {
  type AccountContext,
  batchEndings,
  hasDueRelays,
  nextDueMs,
  openContext,
  openRelays,
  type RelayWorkerDeps,
} from './context.ts';
import { recheckUnexecuted, recordIncluded, recordSent } from './reconcile.ts';
import { submitPending } from './submit.ts';

/** Shorter than a block time: callers wait for the outcome. */
const POLL_MS = 1_000;
const MAX_RECORDED = 200;
const MAX_PENDING = 200;

export interface PassResult {
  readonly open: boolean;
  /** Delay until the next pass; 0 after progress. */
  readonly nextPassMs: number;
}

/** Records outcomes, sends what no node has, bumps what is stuck. Safe to repeat, and beside requests that send the same. */
export async function processAccount(
  deps: RelayWorkerDeps,
  environment: Environment,
  account: string,
  { isSent = false }: Pick<RelayWorkerPayload, 'isSent'> = {},
): Promise<PassResult> {
  const context = await openContext(deps, environment, account);
  const isClear = isSent && (await runShortPass(context).catch((error: unknown) => logFailure(context, error)));
  const progressed =
    !isClear &&
    (await hasDueRelays(context)) &&
    (await runPass(context).catch((error: unknown) => logFailure(context, error)));
  const dueMs = await nextDueMs(context);
  if (dueMs === undefined) return { open: false, nextPassMs: 0 };
  return { open: true, nextPassMs: dueMs > 0 || progressed ? dueMs : POLL_MS };
}

async function runShortPass(context: AccountContext): Promise<boolean> {
  return recordSent(context, await openRelays(context, { limit: MAX_RECORDED }));
}

async function runPass(context: AccountContext): Promise<boolean> {
  const { sealed, pending } = await readNonces(context);
  await compareNonce(context, sealed);
  const included = await openRelays(context, { below: sealed, limit: MAX_RECORDED });
  const waiting = await openRelays(context, { from: pending, limit: MAX_PENDING });
  const [submitted, recorded] = await Promise.all([
    submitPending(context, waiting, pending).catch((error: unknown) => logFailure(context, error)),
    recordIncluded(context, included).catch((error: unknown) => logFailure(context, error)),
  ]);
  return submitted || recorded;
}

function logFailure({ log, account }: AccountContext, error: unknown): false {
  log.warn({ account, err: error }, 'relay worker pass failed');
  return false;
}

/** Nonces below `sealed` are in sealed blocks, those below `pending` also in the open one. */
async function readNonces({ chain, account }: AccountContext): Promise<{ sealed: bigint; pending: bigint }> {
  const address = BigInt(account);
  const [sealed, pending] = await Promise.all([chain.nonceAt(address), chain.nonceAt(address, 'pre_confirmed')]);
  if (sealed === undefined || pending === undefined) throw new Error('The account is not deployed.');
  return { sealed, pending: pending > sealed ? pending : sealed };
}

async function compareNonce({ db, chain, account, log }: AccountContext, sealed: bigint): Promise<void> {
  const next = (await nextNonces(db.reads, chain.chainId, [account])).get(account);
  if (next === undefined || next < sealed) await checkNonce({ db, log }, chain, account, sealed);
}

const SWEEP_SECONDS = 15;
const BALANCE_SECONDS = 60;
const WATCH_SECONDS = 60;

export interface RelayerJobDeps extends RelayWorkerDeps {
  readonly environments: readonly Environment[];
}

export function relayerJobs(deps: RelayerJobDeps): { handlers: JobHandlers; recurring: readonly RecurringJob[] } {
  const { environments } = deps;
  const accounts = environments.reduce((sum, environment) => sum + allKeys(deps, environment).length, 0);
  const working = { ...deps, endings: batchEndings(deps, Math.max(1, accounts)) };
  const each = environments.map((environment) => {
    const [sweep, balances] = [`sweep-relayers-${environment}`, `read-relayer-balances-${environment}`];
    const watch = `watch-unexecuted-relays-${environment}`;
    const handlers: JobHandlers = {
      [relayWorkerTask(environment)]: relayWorkerHandler(working, environment),
      [sweep]: () => sweepAccounts(deps, environment),
      [balances]: () => readBalances(deps, environment),
      [watch]: () => recheckUnexecuted(deps, environment),
    };
    const recurring = [
      { task: sweep, everySeconds: SWEEP_SECONDS },
      { task: balances, everySeconds: BALANCE_SECONDS },
      { task: watch, everySeconds: WATCH_SECONDS },
    ];
    return { handlers, recurring };
  });
  return {
    handlers: Object.assign({}, ...each.map(({ handlers }) => handlers)) as JobHandlers,
    recurring: each.flatMap(({ recurring }) => recurring),
  };
}

function relayWorkerHandler(deps: RelayerJobDeps, environment: Environment): JobHandler<RelayWorkerPayload> {
  return async ({ account, isSent }) => {
    const { chain } = deps.networks.starknet(environment);
    const { open, nextPassMs } = await processAccount(deps, environment, account, { isSent });
    if (!open) return;
    const runAt = new Date(Date.now() + nextPassMs);
    await enqueue(deps.db, relayWorkerJob(environment, chain.chainId, account, { runAt, isSent }));
  };
}

/** Requeues accounts with open relays, in case a job has used up its attempts. */
async function sweepAccounts({ db, networks }: RelayerJobDeps, environment: Environment): Promise<void> {
  const { chainId } = networks.starknet(environment).chain;
  const rows = await db.rows<{ account: string }>(sql`
    select address as account from relayer_accounts as own
     where chain_id = ${toHex(chainId)} and exists (
       select from relays
        where chain_id = own.chain_id and account = own.address and state in ('STORED', 'SENT'))`);
  await enqueueMany(
    db,
    rows.map(({ account }) => relayWorkerJob(environment, chainId, account)),
  );
}
