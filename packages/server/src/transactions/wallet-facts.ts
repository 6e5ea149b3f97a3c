import { ApiError, type WalletType } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import type { Reads } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import { findRelay } from '../relayer/find-relay.ts';
import { isOpen } from '../relayer/relay.ts';
import type { AccountDeployment } from '../relayer/sponsor.ts';
import { readFelt, refuse } from '../wallets/fields.ts';
import type { WalletRecord } from '../wallets/wallet.ts';

/** What a request says of the wallet beside its address must be so: a client that is wrong there would sign for another account. */
export function requireAgreement(
  wallet: WalletRecord,
  said: { readonly walletType?: WalletType; readonly accountClassHash?: string },
): void {
  const { walletType, accountClassHash } = said;
  if (walletType !== undefined && walletType !== wallet.walletType) {
    refuse('body.walletType', `is ${walletType}, but the wallet is of type ${wallet.walletType}`);
  }
  if (accountClassHash === undefined) return;
  if (readFelt(accountClassHash, 'body.accountClassHash') !== wallet.classHash) {
    refuse('body.accountClassHash', `is not the wallet's class, which is ${toHex(wallet.classHash)}`);
  }
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
