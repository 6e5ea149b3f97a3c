import type { Database } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import type { JobHandlers } from '../jobs/job.ts';
import type { UpgradedWallet } from './outcomes.ts';
import * as store from './store.ts';
import { typeOfClass } from './wallet-class.ts';

interface ConfirmParts {
  readonly db: Database;
  readonly networks: Pick<Networks, 'starknet'>;
}

/** After an upgrade, or the reorganisation of one: the wallet has the class that the chain says. */
export async function confirmUpgrade(
  { db, networks }: ConfirmParts,
  { environment, address, blockNumber }: UpgradedWallet,
): Promise<void> {
  const network = networks.starknet(environment);
  if ((await network.chain.blockNumber()) < blockNumber)
    throw new Error('The node does not have the block of the upgrade yet.');
  const classHash = await network.chain.classHashAt(BigInt(address));
  if (classHash === undefined) return;
  await store.setClass(db, { environment, address, classHash, walletType: typeOfClass(network, classHash) });
}

export function walletJobs(parts: ConfirmParts): JobHandlers {
  return { 'confirm-upgrade': (upgraded: UpgradedWallet) => confirmUpgrade(parts, upgraded) };
}
