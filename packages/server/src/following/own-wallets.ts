import { type Environment, parseStarknetAddress } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import type { Reads } from '@svc/store';
import { walletsAt } from '../wallets/find-wallet.ts';
import type { WalletRecord } from '../wallets/wallet.ts';

/** By address. */
export type Wallets = ReadonlyMap<bigint, WalletRecord>;

/** Which of the addresses are wallets of an environment. */
export async function ownWallets(
  reads: Reads,
  environment: Environment,
  addresses: Iterable<bigint>,
): Promise<Wallets> {
  // Tokens are minted by and burnt to zero, which is nobody's address.
  const possible = [...new Set(addresses)].flatMap((address) => {
    const parsed = parseStarknetAddress(toHex(address));
    return parsed.ok ? [parsed.value] : [];
  });
  const wallets = await walletsAt(reads, environment, possible);
  return new Map(wallets.map((wallet) => [BigInt(wallet.address), wallet]));
}
