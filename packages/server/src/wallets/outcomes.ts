import type { Environment, StarknetAddress } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import type { Db } from '@svc/store';
import { enqueue } from '../jobs/enqueue.ts';
import type { NewJob } from '../jobs/job.ts';
import type { OutcomeHandlers } from '../relayer/outcome.ts';
import { addressOf } from './address-of.ts';
import * as store from './store.ts';

/** What `confirm-upgrade` works on. */
export interface UpgradedWallet {
  readonly environment: Environment;
  readonly address: StarknetAddress;
  /** The block of the upgrade; a node that does not have it yet must not be believed. */
  readonly blockNumber: number;
  /** How often the chain was asked in vain. */
  readonly looks?: number;
}

export const CONFIRM_UPGRADE_TASK = 'confirm-upgrade';

export function confirmUpgradeJob(payload: UpgradedWallet): NewJob {
  return { task: CONFIRM_UPGRADE_TASK, payload, key: `${payload.environment} ${payload.address}` };
}

/** Where a paymaster tells the transaction of a relay after it was stored. */
export function keepTransactionHash(tx: Db, relayId: string, hash: bigint): Promise<void> {
  return store.setTransactionHash(tx, relayId, toHex(hash));
}

/** What the end of a relay means for its wallet. It can come again, also with another result, when the chain is reorganised. */
export function walletOutcomes(): Pick<OutcomeHandlers, 'wallet' | 'upgrade'> {
  return {
    wallet: async (tx, { relayId, environment, account, result, hash }) => {
      const text = hash === undefined ? undefined : toHex(hash);
      if (result !== 'SUCCEEDED') return store.setFailed(tx, relayId, text);
      await store.setDeployed(tx, { environment, address: addressOf(account), relayId, hash: text });
    },
    // Earlier classes skip a call that fails, so the transaction's success is no proof; the class is read from the chain.
    upgrade: async (tx, { environment, account, receipt }) => {
      const address = addressOf(account);
      await enqueue(tx, confirmUpgradeJob({ environment, address, blockNumber: receipt?.blockNumber ?? 0 }));
    },
  };
}
