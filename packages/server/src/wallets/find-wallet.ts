import type { Environment, StarknetAddress } from '@svc/protocol';
import type { Reads } from '@svc/store';
import type { Caller } from '../http/caller.ts';
import * as store from './store.ts';
import type { WalletRecord } from './wallet.ts';

/** More than a page of the chain's events has parties. */
const MAX_ADDRESSES = 10_000;

/** The wallet as far as it exists for the caller: that of another organisation, or with a user's token of another user, does not. */
export async function findWallet(
  reads: Reads,
  caller: Caller,
  address: StarknetAddress,
): Promise<store.KeptWallet | undefined> {
  const wallet = await store.walletAt(reads, caller.environment, address);
  if (wallet?.organizationId !== caller.organizationId) return undefined;
  return mayBe(caller, wallet.externalUserId) ? wallet : undefined;
}

/** Which of the addresses are wallets, of whatever organisation. */
export async function walletsAt(
  reads: Reads,
  environment: Environment,
  addresses: readonly StarknetAddress[],
): Promise<WalletRecord[]> {
  if (addresses.length > MAX_ADDRESSES)
    throw new RangeError(`At most ${MAX_ADDRESSES} addresses can be looked up at once.`);
  return addresses.length === 0 ? [] : store.walletsAt(reads, environment, addresses);
}

/** A secret key speaks for every user of its organisation, a user's token for that user alone. */
export function mayBe(caller: Caller, externalUserId: string): boolean {
  return caller.proof !== 'user token' || caller.externalUserId === externalUserId;
}
