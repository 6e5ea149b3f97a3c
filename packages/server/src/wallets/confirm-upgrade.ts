import type { Database } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import { enqueue } from '../jobs/enqueue.ts';
import type { JobHandlers } from '../jobs/job.ts';
import { CONFIRM_UPGRADE_TASK, confirmUpgradeJob, type UpgradedWallet } from './outcomes.ts';
import * as store from './store.ts';
import { typeOfClass } from './wallet-class.ts';

interface ConfirmParts {
  readonly db: Database;
  readonly networks: Pick<Networks, 'starknet'>;
  readonly now?: () => number;
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

/**
 * After an upgrade, or the reorganisation of one: the wallet has the class that the chain says. A chain that cannot tell is asked
 * later, however long that takes.
 */
export async function confirmUpgrade(parts: ConfirmParts, upgraded: UpgradedWallet): Promise<void> {
  const { db, now = Date.now } = parts;
  const found = await classOf(parts, upgraded).catch(() => 'later' as const);
  if (found !== 'later') return void (found && (await store.setClass(db, { ...upgraded, ...found })));
  const { looks = 0 } = upgraded;
  const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** looks, LONGEST_PAUSE_MS);
  const job = confirmUpgradeJob({ ...upgraded, looks: looks + 1 });
  await enqueue(db, { ...job, runAt: new Date(now() + pauseMs) });
}

/** Undefined where no account stands any more. */
async function classOf({ networks }: ConfirmParts, { environment, address, blockNumber }: UpgradedWallet) {
  const network = networks.starknet(environment);
  if ((await network.chain.blockNumber()) < blockNumber) return 'later';
  const classHash = await network.chain.classHashAt(BigInt(address));
  return classHash === undefined ? undefined : { classHash, walletType: typeOfClass(network, classHash) };
}

export function walletJobs(parts: ConfirmParts): JobHandlers {
  return { [CONFIRM_UPGRADE_TASK]: (upgraded: UpgradedWallet) => confirmUpgrade(parts, upgraded) };
}
