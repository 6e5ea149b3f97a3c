import type { WalletType } from '@svc/protocol';
import { type Call, selector } from '@svc/starknet';
import type { Client } from '../client/client.ts';
import { openWalletKey } from '../keys/open-wallet-key.ts';
import { checkForSigning } from '../signing/check-for-signing.ts';
import { readAddress } from '../signing/read-address.ts';
import { signExecution } from '../signing/sign-execution.ts';
import type { SvcWallet } from '../signing/wallet.ts';
import { walletClassOf } from './wallet-class.ts';

export interface SignWalletUpgradeParams {
  readonly encryptKey: string;
  readonly wallet: SvcWallet;
  /** As `prepareWalletUpgrade` answered it on your server. */
  readonly typedData: Record<string, unknown>;
  /** The class that the wallet is to have, as your app knows it. Default: the current `SVC` class, as the service names it. */
  readonly targetClassHash?: string | undefined;
  /** As `prepareWalletUpgrade` answered it. Default: the wallet's own `walletType`, or else `SVC`. */
  readonly currentWalletType?: WalletType | undefined;
}

/**
 * Signs an upgrade as the wallet's owner, where the key is: in the user's browser, while your server prepares and executes it with the
 * secret key. Typed data that is anything else than this upgrade of this wallet is refused. Answers what `executeWalletUpgrade` takes.
 *
 * @example
 * // On your server:
 * const { typedData, currentWalletType } = await svc.prepareWalletUpgrade({ walletAddress: earlierWallet.publicKey });
 * // In the browser:
 * const mine = createSvc({ baseUrl, publicKey, bearerToken });
 * const signature = await mine.signWalletUpgrade({ encryptKey, wallet: earlierWallet, typedData, currentWalletType });
 */
export async function signWalletUpgrade(
  client: Client,
  { encryptKey, wallet, typedData, targetClassHash, currentWalletType }: SignWalletUpgradeParams,
): Promise<string[]> {
  const account = readAddress(wallet.publicKey, 'publicKey of the wallet');
  const target = await walletClassOf(client, 'SVC', targetClassHash);
  const calls = [upgradeCall(account, target, currentWalletType ?? wallet.walletType)];
  const { execution, chainId } = await checkForSigning(client, typedData, { account, calls });
  const privateKey = await openWalletKey({ encryptKey, wallet });
  const { r, s } = signExecution(execution, { account, chainId, privateKey });
  return [r, s];
}

/**
 * `READY` takes the new class and data for it, of which there is none; `SVC` the new class alone. The service may say which: with the
 * wrong one the account refuses, and nothing else comes of it.
 */
function upgradeCall(account: bigint, target: bigint, walletType: SvcWallet['walletType']): Call {
  const calldata = walletType === 'READY' ? [target, 0n] : [target];
  return { to: account, selector: selector('upgrade'), calldata };
}
