import type { Environment, StarknetAddress } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { currentTenant, type Database, type Db } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import { addressOf } from '../chains/starknet/chain.ts';
import { enqueue, type JobHandlers, type JobLog, type NewJob } from '../jobs/job.ts';
import type { OutcomeHandlers } from '../relayer/outcome.ts';
import * as store from './wallet.ts';
import { typeOfClass } from './wallet-class.ts';

export interface UpgradedWallet {
  readonly environment: Environment;
  readonly address: StarknetAddress;
  /** A node behind this block is not believed. */
  readonly blockNumber: number;
  readonly looks?: number;
}

export const CONFIRM_UPGRADE_TASK = 'confirm-upgrade';

export function confirmUpgradeJob(payload: UpgradedWallet, organizationId = currentTenant()): NewJob {
  const key = `${payload.environment} ${payload.address}`;
  return { task: CONFIRM_UPGRADE_TASK, payload, key, tenant: organizationId };
}

export function setRelayTransactionHash(tx: Db, relayId: string, hash: string): Promise<void> {
  return store.setTransactionHash(tx, relayId, hash);
}

export function walletOutcomes(): Pick<OutcomeHandlers, 'wallet' | 'upgrade'> {
  return {
    wallet: async (tx, { relayId, environment, account, result, hash }) => {
      const text = hash === undefined ? undefined : toHex(hash);
      if (result !== 'SUCCEEDED') return store.setFailed(tx, relayId, text);
      await store.setDeployed(tx, { environment, address: addressOf(account), relayId, hash: text });
    },
    // Earlier classes skip failing calls, so the class is read from the chain.
    upgrade: async (tx, { environment, account, receipt }) => {
      const address = addressOf(account);
      const organizationId = await store.organizationOf(tx, { environment, address });
      const upgraded = { environment, address, blockNumber: receipt?.blockNumber ?? 0 };
      await enqueue(tx, confirmUpgradeJob(upgraded, organizationId));
    },
  };
}

export interface ConfirmUpgradeDeps {
  readonly db: Database;
  readonly networks: Pick<Networks, 'starknet'>;
  readonly log: JobLog;
  readonly now?: () => number;
}

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;

/** Stores the class that the chain shows after an upgrade or its reorganisation. Retries without limit until a node can tell. */
export async function confirmUpgrade(deps: ConfirmUpgradeDeps, upgraded: UpgradedWallet): Promise<void> {
  const { db, log, now = Date.now } = deps;
  const { environment, address, blockNumber, looks = 0 } = upgraded;
  const about = { environment, address, blockNumber, retries: looks };
  const found = await readClass(deps, upgraded).catch((error: unknown) => {
    log.warn({ ...about, err: error }, 'class of an upgraded wallet not readable, retrying');
    return 'unreadable' as const;
  });
  if (found === 'not deployed') return;
  if (typeof found === 'object') return void (await store.setClass(db, { environment, address, ...found }));
  if (found === 'no block') log.info(about, 'no node has the block of the upgrade yet, retrying');
  const delayMs = Math.min(FIRST_RETRY_MS * 2 ** looks, MAX_RETRY_MS);
  const job = confirmUpgradeJob({ ...upgraded, looks: looks + 1 });
  await enqueue(db, { ...job, runAt: new Date(now() + delayMs) });
}

async function readClass({ networks }: ConfirmUpgradeDeps, { environment, address, blockNumber }: UpgradedWallet) {
  const network = networks.starknet(environment);
  if ((await network.chain.blockNumber()) < blockNumber) return 'no block';
  const classHash = await network.chain.classHashAt(BigInt(address));
  return classHash === undefined ? 'not deployed' : { classHash, walletType: typeOfClass(network, classHash) };
}

export function walletJobs(deps: ConfirmUpgradeDeps): JobHandlers {
  return { [CONFIRM_UPGRADE_TASK]: (upgraded: UpgradedWallet) => confirmUpgrade(deps, upgraded) };
}
