import type { Environment } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { sql } from '@svc/store';
import { enqueue, enqueueMany, type JobHandler, type JobHandlers, type RecurringJob } from '../../jobs/job.ts';
import { reasonOf } from '../../util/text.ts';
import { nextNonces, raiseNextNonce, readBalances } from '../accounts.ts';
import { type TenderPayload, tenderJob, tenderTask } from '../relay-store.ts';
import { hasOpenRelays, openRelays, type TenderParts, type View, viewOf } from './context.ts';
import { settleIncluded, watchUnexecuted } from './reconcile.ts';
import { pushWaiting } from './submit.ts';

/** What one look settles; the next one goes on. */
const MAX_SETTLED = 200;
/** More than a node lets wait, so that nothing that could be sent is overlooked. */
const MAX_WAITING = 200;

export interface Looked {
  /** Whether there is more to look at later. */
  readonly open: boolean;
  /** Whether something went forward, so that looking again at once is worth it. */
  readonly progressed: boolean;
}

/**
 * Looks after everything that an account has under way: stores how things ended, sends what no node has, raises what is stuck. It
 * may be repeated, and run beside requests that send the same. Nodes that fail change nothing.
 */
export async function tend(parts: TenderParts, environment: Environment, account: string): Promise<Looked> {
  const view = await viewOf(parts, environment, account);
  const isOpen = () => hasOpenRelays(view);
  if (!(await isOpen())) return { open: false, progressed: false };
  const progressed = await look(view).catch((error: unknown) => complain(view, error));
  return { open: await isOpen(), progressed };
}

/** Answers whether something went forward. */
async function look(view: View): Promise<boolean> {
  const { sealed, pending } = await readNonces(view);
  await catchUp(view, sealed);
  const included = await openRelays(view, { below: sealed, limit: MAX_SETTLED });
  const waiting = await openRelays(view, { from: pending, limit: MAX_WAITING });
  // Together, and neither fails with the other: somebody waits for both.
  const [pushed, settled] = await Promise.all([
    pushWaiting(view, waiting, pending).catch((error: unknown) => complain(view, error)),
    settleIncluded(view, included).catch((error: unknown) => complain(view, error)),
  ]);
  return pushed || settled;
}

function complain({ log, account }: View, error: unknown): false {
  log.warn({ account, reason: reasonOf(error) }, 'a look at a relayer account was cut short');
  return false;
}

/** What is below `sealed` stands in blocks; what is below `pending` is executed, but its block is still open. */
async function readNonces({ chain, account }: View): Promise<{ sealed: bigint; pending: bigint }> {
  const address = BigInt(account);
  const [sealed, pending] = await Promise.all([chain.nonceAt(address), chain.nonceAt(address, 'pre_confirmed')]);
  if (sealed === undefined || pending === undefined) throw new Error('The account does not stand on the chain.');
  // Two nodes may have answered, one of them behind.
  return { sealed, pending: pending > sealed ? pending : sealed };
}

/** The chain can be ahead of us only when the account's key was used elsewhere. */
async function catchUp({ db, chain, account, log }: View, sealed: bigint): Promise<void> {
  const next = (await nextNonces(db.reads, chain.chainId, [account])).get(account);
  if (next !== undefined && next >= sealed) return;
  log.error({ account, next: String(next), chain: String(sealed) }, 'somebody else uses the key of a relayer account');
  await raiseNextNonce(db, chain.chainId, account, sealed);
}

/** Blocks come every few seconds, and somebody waits for what has become of theirs. */
const LOOK_AGAIN_MS = 1_000;
const SWEEP_SECONDS = 15;
const BALANCE_SECONDS = 60;
const WATCH_SECONDS = 60;

export interface RelayerJobParts extends TenderParts {
  /** Those whose chain this process reaches. */
  readonly environments: readonly Environment[];
}

/** What relayer accounts need done without being asked. */
export function relayerJobs(parts: RelayerJobParts): { handlers: JobHandlers; recurring: readonly RecurringJob[] } {
  const each = parts.environments.map((environment) => {
    const [sweep, balances] = [`sweep-relayers-${environment}`, `read-relayer-balances-${environment}`];
    const watch = `watch-unexecuted-relays-${environment}`;
    const handlers: JobHandlers = {
      [tenderTask(environment)]: tendAccount(parts, environment),
      [sweep]: () => sweepAccounts(parts, environment),
      [balances]: () => readBalances(parts, environment),
      [watch]: () => watchUnexecuted(parts, environment),
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

function tendAccount(parts: RelayerJobParts, environment: Environment): JobHandler<TenderPayload> {
  return async ({ account }) => {
    const { chain } = parts.networks.starknet(environment);
    const { open, progressed } = await tend(parts, environment, account);
    if (!open) return;
    const again = new Date(Date.now() + (progressed ? 0 : LOOK_AGAIN_MS));
    await enqueue(parts.db, tenderJob(environment, chain.chainId, account, again));
  };
}

/** In case a tender used up its attempts while the database was away. */
async function sweepAccounts({ db, networks }: RelayerJobParts, environment: Environment): Promise<void> {
  const { chainId } = networks.starknet(environment).chain;
  const rows = await db.rows<{ account: string }>(sql`
    select address as account from relayer_accounts as own
     where chain_id = ${toHex(chainId)} and exists (
       select from relays
        where chain_id = own.chain_id and account = own.address and state in ('STORED', 'SENT'))`);
  await enqueueMany(
    db,
    rows.map(({ account }) => tenderJob(environment, chainId, account)),
  );
}
