import type { Environment } from '@svc/protocol';
import type { Database } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import type { Handlers } from '../http/call.ts';
import type { Jobs, Module } from '../http/module.ts';
import { readAddress } from '../http/validation.ts';
import type { JobContext, JobHandler, JobLog } from '../jobs/job.ts';
import { sleep } from '../util/wakeup.ts';
import { requireWallet } from '../wallets/wallet.ts';
import { chainIndexer } from './index-blocks.ts';
import { indexedChain, type TransferWatcher } from './indexer.ts';
import { type SyncDeps, syncWalletQueued } from './sync-wallet.ts';

export interface IndexerJobDeps {
  readonly db: Database;
  readonly networks: Pick<Networks, 'starknet'>;
  readonly log: JobLog;
  readonly now?: () => number;
  readonly environments: readonly Environment[];
  readonly watcher?: TransferWatcher;
}

export function create(deps: IndexerJobDeps & SyncDeps): Module<'syncOnChain'> {
  return { handlers: indexerHandlers(deps), jobs: [indexerJobs(deps)] };
}

const LOOK_EVERY_MS = 1_000;
const EVERY_SECONDS = 5;

const recurringTask = (environment: Environment) => `follow-chain ${environment}`;
const stepTask = (environment: Environment) => `follow-chain-step ${environment}`;

/**
 * A run looks at the chain each second until the next one is due: a look costs no job. Runs may take longer, so they share a queue with
 * one waiting at most. The version before runs steps by a job of their own.
 */
export function indexerJobs({ environments, db, networks, log, watcher, now = Date.now }: IndexerJobDeps): Jobs {
  const handlers: Record<string, JobHandler<never>> = {};
  for (const environment of environments) {
    const index = chainIndexer(() => ({ ...indexedChain(networks, environment), db, log, now, watcher }));
    handlers[recurringTask(environment)] = async (_payload: never, { signal, stopping }: JobContext) => {
      const over = AbortSignal.any([signal, stopping]);
      const endsAt = performance.now() + untilNextRunMs(now());
      do {
        await index(signal);
        await sleep(over, LOOK_EVERY_MS);
      } while (!over.aborted && performance.now() < endsAt);
    };
    handlers[stepTask(environment)] = (_payload: never, { signal }: JobContext) => index(signal);
  }
  const recurring = environments.map((environment) => ({
    task: recurringTask(environment),
    everySeconds: EVERY_SECONDS,
    queue: stepTask(environment),
    isWatching: true,
  }));
  return { handlers, recurring };
}

/** Recurring jobs are due at whole periods since 1970. */
const untilNextRunMs = (now: number) => EVERY_SECONDS * 1_000 - (now % (EVERY_SECONDS * 1_000));

export function indexerHandlers(deps: SyncDeps): Pick<Handlers, 'syncOnChain'> {
  return {
    syncOnChain: async ({ caller, body }) => {
      const address = readAddress(body.walletAddress, 'body.walletAddress');
      deps.networks.starknet(caller.environment);
      const wallet = await requireWallet(deps.db.reads, caller, address);
      return syncWalletQueued(deps, wallet);
    },
  };
}
