import { toHex } from '@svc/starknet';
import type { Client } from '../client/client.ts';
import type { SvcWallet } from '../signing/wallet.ts';
import { executeWalletUpgrade, type WalletUpgraded } from './execute-wallet-upgrade.ts';
import { prepareWalletUpgrade } from './prepare-wallet-upgrade.ts';
import { signWalletUpgrade } from './sign-wallet-upgrade.ts';
import { requireClass, walletClassOf } from './wallet-class.ts';

export interface UpgradeWalletParams {
  readonly encryptKey: string;
  readonly wallet: SvcWallet;
  /** Default: the current `SVC` class. */
  readonly targetClassHash?: string | undefined;
}

/**
 * Upgrades a wallet to another class, without gas: prepares, checks, signs as the owner and executes. On a server only: needs
 * the secret key. The address, the money and the history stay. Where the user's key is in a browser, that signs with `signWalletUpgrade`.
 *
 * @example
 * const { newWalletType } = await svc.upgradeWallet({ encryptKey, wallet: earlierWallet });
 */
export async function upgradeWallet(
  client: Client,
  { encryptKey, wallet, targetClassHash }: UpgradeWalletParams,
): Promise<WalletUpgraded> {
  const { publicKey: walletAddress } = wallet;
  const target = await walletClassOf(client, 'SVC', targetClassHash);
  const prepared = await prepareWalletUpgrade(client, { walletAddress, targetClassHash: toHex(target) });
  requireClass(prepared.targetClassHash, target);
  const { typedData, currentWalletType } = prepared;
  const asked = { encryptKey, wallet, typedData, targetClassHash: toHex(target), currentWalletType };
  const signature = await signWalletUpgrade(client, asked);
  return executeWalletUpgrade(client, { walletAddress, typedData, signature });
}
