import { ApiError, type StarknetAddress } from '@svc/protocol';
import type { Reads } from '@svc/store';
import type { Caller } from '../http/caller.ts';
import { findWallet } from '../wallets/find-wallet.ts';
import type { WalletRecord } from '../wallets/wallet.ts';

export async function requireWallet(reads: Reads, caller: Caller, address: StarknetAddress): Promise<WalletRecord> {
  const wallet = await findWallet(reads, caller, address);
  if (!wallet) throw new ApiError('wallet_not_found', `No wallet of yours has the address ${address}.`);
  return wallet;
}
