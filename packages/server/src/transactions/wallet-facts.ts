import { ApiError, type WalletType } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import type { Reads } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import { findRelay } from '../relayer/find-relay.ts';
import { isOpen } from '../relayer/relay.ts';
import type { AccountDeployment } from '../relayer/sponsor.ts';
import { readFelt, refuse } from '../wallets/fields.ts';
import { refreshClass } from '../wallets/refresh-class.ts';
import type { WalletRecord } from '../wallets/wallet.ts';
import type { TransactionParts } from './parts.ts';

interface Said {
  readonly walletType?: WalletType;
  readonly accountClassHash?: string;
}

/**
 * The wallet, provided that what a request says of it beside its address is so: a client that is wrong there would sign for another
 * account. Where it disagrees with us, the chain decides.
 */
export async function requireAgreement(
  { db, networks }: Pick<TransactionParts, 'db' | 'networks'>,
  kept: WalletRecord,
  { walletType, accountClassHash }: Said,
): Promise<WalletRecord> {
  const classHash = accountClassHash === undefined ? undefined : readFelt(accountClassHash, 'body.accountClassHash');
  const isSo = (wallet: WalletRecord) =>
    (walletType ?? wallet.walletType) === wallet.walletType && (classHash ?? wallet.classHash) === wallet.classHash;
  const wallet = isSo(kept) ? kept : await refreshClass(db, networks, kept);
  if (isSo(wallet)) return wallet;
  if (walletType !== undefined && walletType !== wallet.walletType) {
    refuse('body.walletType', `is ${walletType}, but the wallet is of type ${wallet.walletType}`);
  }
  return refuse('body.accountClassHash', `is not the wallet's class, which is ${toHex(wallet.classHash)}`);
}

export type Standing =
  | { readonly kind: 'deployed' }
  /** Its creation is under way. */
  | { readonly kind: 'coming' }
  | { readonly kind: 'missing'; readonly deployment: AccountDeployment };

/** Whether the wallet's account stands on the chain, or what makes it stand there. */
export async function standingOf(
  networks: Pick<Networks, 'starknet'>,
  reads: Reads,
  wallet: WalletRecord,
): Promise<Standing> {
  if (wallet.isDeployed) return { kind: 'deployed' };
  // Asked before the chain: what ended in between is then seen there.
  const relay = wallet.relayId === undefined ? undefined : await findRelay(reads, wallet.relayId);
  const { chain } = networks.starknet(wallet.environment);
  if ((await chain.classHashAt(BigInt(wallet.address), 'pre_confirmed')) !== undefined) return { kind: 'deployed' };
  if (relay && isOpen(relay.state)) return { kind: 'coming' };
  const { classHash, salt, constructorCalldata } = wallet;
  return { kind: 'missing', deployment: { classHash, salt, constructorCalldata } };
}

/** What has to be deployed with the wallet's next transaction: usually nothing. */
export async function deploymentFor(
  networks: Pick<Networks, 'starknet'>,
  reads: Reads,
  wallet: WalletRecord,
): Promise<AccountDeployment | undefined> {
  const standing = await standingOf(networks, reads, wallet);
  if (standing.kind === 'coming') {
    throw new ApiError('wallet_not_deployed', `${wallet.address} is being deployed. Try again in a few seconds.`);
  }
  return standing.kind === 'missing' ? standing.deployment : undefined;
}
