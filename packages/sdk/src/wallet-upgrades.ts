import type { AnswerOf, endpoints, WalletType } from '@svc/protocol';
import { type Call, selector, toHex } from '@svc/starknet';
import type { BearerToken, Client } from './client/client.ts';
import { request } from './client/request.ts';
import { readAddress, type SvcWallet } from './client/values.ts';
import { openWalletKey } from './keys/seal.ts';
import { signExecution } from './signing/calls.ts';
import { checkForSigning } from './signing/check.ts';
import { requireClass, walletClassOf } from './wallets.ts';

export interface UpgradeWalletParams {
  readonly encryptKey: string;
  readonly wallet: SvcWallet;
  /** Default: the current `SVC` class. */
  readonly targetClassHash?: string | undefined;
}

/**
 * Upgrades a wallet to another class: prepares, checks, signs as the owner and executes. The service pays the gas.
 * Address, balances and history stay. Server only: needs the secret key. If the user's key is in a browser, sign
 * there with `signWalletUpgrade`.
 *
 * @example
 * const { newWalletType } = await svc.upgradeWallet({ encryptKey, wallet: earlierWallet });
 */
export async function upgradeWallet(
  client: Client,
  { encryptKey, wallet, targetClassHash }: UpgradeWalletParams,
): Promise<WalletUpgraded> {
  const { publicKey: walletAddress } = wallet;
  const target = await walletClassOf(client, 'SVC', targetClassHash, true);
  const prepared = await prepareWalletUpgrade(client, { walletAddress, targetClassHash: toHex(target) });
  requireClass(prepared.targetClassHash, target);
  const { typedData, currentWalletType } = prepared;
  const upgrade = { encryptKey, wallet, typedData, targetClassHash: toHex(target), currentWalletType };
  const signature = await signWalletUpgrade(client, upgrade);
  return executeWalletUpgrade(client, { walletAddress, typedData, signature });
}

export interface PrepareWalletUpgradeParams {
  readonly walletAddress: string;
  /** Default: the latest `SVC` class. */
  readonly targetClassHash?: string | undefined;
}

export type PreparedWalletUpgrade = AnswerOf<typeof endpoints.prepareWalletUpgrade>;

/**
 * Prepares the typed data that a wallet's owner signs to upgrade the wallet. `signWalletUpgrade` checks and signs it;
 * `upgradeWallet` does both and executes. Server only: needs the secret key.
 *
 * @example
 * const { typedData, targetClassHash } = await svc.prepareWalletUpgrade({ walletAddress: earlierWallet.publicKey });
 */
export function prepareWalletUpgrade(
  client: Client,
  { walletAddress, targetClassHash }: PrepareWalletUpgradeParams,
  bearerToken?: BearerToken,
): Promise<PreparedWalletUpgrade> {
  return request<typeof endpoints.prepareWalletUpgrade>(client, {
    route: 'POST /svc-wallets/prepare-upgrade',
    access: 'secret',
    bearerToken,
    body: { walletAddress, targetClassHash },
  });
}

export interface SignWalletUpgradeParams {
  readonly encryptKey: string;
  readonly wallet: SvcWallet;
  /** From `prepareWalletUpgrade` on your server. */
  readonly typedData: Record<string, unknown>;
  /** The class that your app expects. Default: the service's current `SVC` class. */
  readonly targetClassHash?: string | undefined;
  /** From `prepareWalletUpgrade`. Default: the wallet's `walletType`, or else `SVC`. */
  readonly currentWalletType?: WalletType | undefined;
}

/**
 * Signs an upgrade as the wallet's owner, in the user's browser, while your server prepares and executes it with the
 * secret key. Refuses typed data that is not exactly this upgrade of this wallet. Returns the signature for
 * `executeWalletUpgrade`.
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
  const target = await walletClassOf(client, 'SVC', targetClassHash, true);
  const calls = [upgradeCall(account, target, currentWalletType ?? wallet.walletType)];
  const { execution, chainId } = await checkForSigning(client, typedData, { account, calls });
  const privateKey = await openWalletKey({ encryptKey, wallet });
  const { r, s } = signExecution(execution, { account, chainId, privateKey });
  return [r, s];
}

export interface ExecuteWalletUpgradeParams {
  readonly walletAddress: string;
  /** From `prepareWalletUpgrade`. */
  readonly typedData: Record<string, unknown>;
  /** From `signWalletUpgrade`: `[r, s]`. */
  readonly signature: readonly string[];
}

export type WalletUpgraded = AnswerOf<typeof endpoints.executeWalletUpgrade>;

/**
 * Executes a signed upgrade. The service pays the gas. Address, balances and history stay. Server only: needs the
 * secret key.
 *
 * @example
 * const walletAddress = earlierWallet.publicKey;
 * const { typedData, currentWalletType } = await svc.prepareWalletUpgrade({ walletAddress });
 * // In the browser of the wallet's owner, without the secret key:
 * const signature = await svc.signWalletUpgrade({ encryptKey, wallet: earlierWallet, typedData, currentWalletType });
 * // On the server again:
 * const { newWalletType } = await svc.executeWalletUpgrade({ walletAddress, typedData, signature });
 */
export function executeWalletUpgrade(
  client: Client,
  { walletAddress, typedData, signature }: ExecuteWalletUpgradeParams,
  bearerToken?: BearerToken,
): Promise<WalletUpgraded> {
  return request<typeof endpoints.executeWalletUpgrade>(client, {
    route: 'POST /svc-wallets/upgrade',
    access: 'secret',
    bearerToken,
    body: { walletAddress, typedData, signature: [...signature] },
  });
}

/** `READY` takes the class and data for it (none), `SVC` the class alone. The account rejects the wrong form. */
function upgradeCall(account: bigint, target: bigint, walletType: SvcWallet['walletType']): Call {
  const calldata = walletType === 'READY' ? [target, 0n] : [target];
  return { to: account, selector: selector('upgrade'), calldata };
}
