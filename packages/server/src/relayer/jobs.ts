import type { Environment } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { sql } from '@svc/store';
import { enqueue, enqueueMany } from '../jobs/enqueue.ts';
import type { JobHandler, JobHandlers } from '../jobs/job.ts';
import type { RecurringJob } from '../jobs/recurring.ts';
import { readBalances } from './balances.ts';
import { tenderTask } from './spelling.ts';
import { tend } from './tender/tend.ts';
import type { TenderParts } from './tender/view.ts';
import { type TenderPayload, tenderJob } from './tender-job.ts';
import { watchUnexecuted } from './watch-unexecuted.ts';

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
