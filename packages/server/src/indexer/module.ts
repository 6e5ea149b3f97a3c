import type { Environment } from '@svc/protocol';
import type { Database } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import type { Handlers } from '../http/call.ts';
import type { Jobs, Module } from '../http/module.ts';
import { readAddress } from '../http/validation.ts';
import type { JobHandler, JobLog } from '../jobs/job.ts';
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

const EVERY_SECONDS = 1;

const recurringTask = (environment: Environment) => `follow-chain ${environment}`;
const stepTask = (environment: Environment) => `follow-chain-step ${environment}`;

/** Runs may take longer than a second, so they share a queue with one waiting at most. The version before runs steps by a job of their own. */
export function indexerJobs({ environments, db, networks, log, watcher, now = Date.now }: IndexerJobDeps): Jobs {
  const handlers: Record<string, JobHandler<never>> = {};
  for (const environment of environments) {
    const index = chainIndexer(() => ({ ...indexedChain(networks, environment), db, log, now, watcher }));
    const step: JobHandler<never> = (_payload, { signal }) => index(signal);
    handlers[recurringTask(environment)] = step;
    handlers[stepTask(environment)] = step;
  }
  const recurring = environments.map((environment) => ({
    task: recurringTask(environment),
    everySeconds: EVERY_SECONDS,
    queue: stepTask(environment),
  }));
  return { handlers, recurring };
}

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
