import { ApiError, type WalletType } from '@svc/protocol';
import { selector, toHex, type WalletClass } from '@svc/starknet';
import type { Db, Reads } from '@svc/store';
import type { Networks, StarknetNetwork } from '../chains/networks.ts';
import type { Owner } from '../organizations/organization-store.ts';
import { refuseCustomClass } from '../relayer/sponsorship.ts';
import type { WalletRecord } from './wallet.ts';
import * as store from './wallet.ts';

const OUTSIDE_EXECUTION = 'execute_from_outside_v2';

export function knownClass({ walletClasses }: StarknetNetwork, classHash: bigint): WalletClass | undefined {
  return walletClasses.find((known) => known.classHash === classHash);
}

/** Unknown classes count as `SVC`. */
export function typeOfClass(network: StarknetNetwork, classHash: bigint): WalletType {
  return knownClass(network, classHash)?.walletType ?? 'SVC';
}

export function currentClass({ walletClasses }: StarknetNetwork, walletType: WalletType): bigint {
  const current = walletClasses.find((known) => known.walletType === walletType && known.current);
  if (!current) throw new ApiError('class_not_allowed', `This network has no class of ${walletType} wallets.`);
  return current.classHash;
}

/** Allows known classes of the type, and custom ones that can be relayed for. */
export async function requireClassOfType(
  network: StarknetNetwork,
  classHash: bigint,
  walletType: WalletType,
): Promise<void> {
  const known = knownClass(network, classHash);
  if (!known) return requireEntrypoints(network, classHash, [OUTSIDE_EXECUTION]);
  if (known.walletType !== walletType) {
    refuse(classHash, `is a class of ${known.walletType}, but walletType is ${walletType}`);
  }
}

/** Without outside executions and upgrades a wallet would be stuck in its next class. */
export async function requireUpgradeTarget(network: StarknetNetwork, current: bigint, target: bigint): Promise<void> {
  const known = knownClass(network, target);
  if (known?.walletType === 'READY') refuse(target, 'is a class of READY: wallets can be upgraded to SVC alone');
  // `READY` calls this function of the new class.
  const movesIn = typeOfClass(network, current) === 'READY' ? ['perform_upgrade'] : [];
  const needed = known ? movesIn : [OUTSIDE_EXECUTION, 'upgrade', ...movesIn];
  if (needed.length > 0) await requireEntrypoints(network, target, needed);
}

async function requireEntrypoints({ chain }: StarknetNetwork, classHash: bigint, names: readonly string[]) {
  const entrypoints = await chain.classEntrypoints(classHash);
  if (!entrypoints) refuse(classHash, 'is not declared on this network');
  const missing = names.find((name) => !entrypoints.has(selector(name)));
  if (missing === OUTSIDE_EXECUTION) refuse(classHash, `does not support SNIP-9: it lacks ${missing}`);
  if (missing !== undefined) refuse(classHash, `lacks ${missing}`);
}

function refuse(classHash: bigint, reason: string): never {
  throw new ApiError('class_not_allowed', `${toHex(classHash)} ${reason}.`);
}

/** Before gas is paid for a wallet of these classes. */
export async function requireSponsoredClass(
  reads: Reads,
  owner: Owner,
  network: StarknetNetwork,
  ...classes: readonly bigint[]
): Promise<void> {
  const custom = classes.find((classHash) => !knownClass(network, classHash));
  if (custom !== undefined) await refuseCustomClass(reads, owner, custom);
}

/** Stores the class that the chain shows: an upgrade may be recent or made without us. */
export async function refreshClass(
  db: Db,
  networks: Pick<Networks, 'starknet'>,
  wallet: WalletRecord,
): Promise<WalletRecord> {
  const { environment, address } = wallet;
  const network = networks.starknet(environment);
  const classHash = await network.chain.classHashAt(BigInt(address), 'pre_confirmed');
  if (classHash === undefined || classHash === wallet.classHash) return wallet;
  const walletType = typeOfClass(network, classHash);
  await store.setClass(db, { environment, address, classHash, walletType });
  return { ...wallet, classHash, walletType };
}
