import type { AnswerOf, endpoints, WalletType } from '@svc/protocol';
import { type Call, selector, toHex } from '@svc/starknet';
import type { BearerToken, Client } from './client/client.ts';
import { readAddress, type SvcWallet } from './client/input.ts';
import { request } from './client/request.ts';
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

export interface PrepareWalletUpgradeParams {
  readonly walletAddress: string;
  /** Default: the latest `SVC` class. */
  readonly targetClassHash?: string | undefined;
}

export type PreparedWalletUpgrade = AnswerOf<typeof endpoints.prepareWalletUpgrade>;

/**
 * Asks for the typed data that a wallet's owner signs to give the wallet another class. On a server only: needs the secret key. The owner
 * signs it with `signWalletUpgrade`, which checks it first; `upgradeWallet` does all of it in one call.
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

export interface ExecuteWalletUpgradeParams {
  readonly walletAddress: string;
  /** As `prepareWalletUpgrade` answered it. */
  readonly typedData: Record<string, unknown>;
  /** The owner's, over the typed data, as `signWalletUpgrade` gives it: `[r, s]`. */
  readonly signature: readonly string[];
}

export type WalletUpgraded = AnswerOf<typeof endpoints.executeWalletUpgrade>;

/**
 * Has a signed upgrade executed, without gas. On a server only: needs the secret key. The address, the money and the history stay.
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
