import type { Chain, endpoints, WalletType } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import type { BearerToken, Client } from '../client/client.ts';
import { SvcInputError } from '../client/errors.ts';
import { request } from '../client/request.ts';
import { hex64 } from '../keys/hex-64.ts';
import { newWalletSecrets, type PasskeyOptions } from '../passkeys/new-wallet-secrets.ts';
import { checkForSigning } from '../signing/check-for-signing.ts';
import { signExecution } from '../signing/sign-execution.ts';
import type { SvcWallet } from '../signing/wallet.ts';
import { type NewAccount, newAccount } from './new-account.ts';
import { sealProven } from './seal-proven.ts';
import { requireClass, walletClassOf } from './wallet-class.ts';

export interface CreateWalletParams {
  /** The user's PIN or passphrase. It never leaves this device; without it nobody can open the wallet. */
  readonly encryptKey: string;
  /** Your own name for the user. */
  readonly externalUserId: string;
  readonly chain: Chain;
  readonly walletType?: WalletType | undefined;
  /** A class of your own, or the one that you expect, so that the service cannot choose another. */
  readonly classHash?: string | undefined;
  /** A passkey opens the wallet from then on; `encryptKey` stays as the backup. */
  readonly usePasskey?: boolean | undefined;
  /** How the passkey is made, with `usePasskey`. */
  readonly passkey?: PasskeyOptions | undefined;
}

export interface CreatedWallet extends SvcWallet {
  readonly walletType: WalletType;
  readonly classHash: string;
  /** Of the deployment; `waitForTransaction` tells when it is done. */
  readonly transactionHash: string;
}

/**
 * Gives the user a new wallet, without gas. The key is made and encrypted here; the service gets the ciphertext alone.
 *
 * Called again, for the same user too, it makes another wallet: ask `getWallet` first. That holds after a crash or a
 * `SvcConnectionError` as well: either the service has the wallet, with its ciphertext, or there is none and nothing is lost.
 *
 * @example
 * const wallet = await svc.createWallet({ encryptKey: '481516', externalUserId: 'ana', chain: 'STARKNET' });
 */
export async function createWallet(
  client: Client,
  params: CreateWalletParams,
  bearerToken?: BearerToken,
): Promise<CreatedWallet> {
  const { externalUserId, chain, walletType = 'SVC' } = params;
  if (chain !== 'STARKNET') throw new SvcInputError('invalid_input', 'chain must be STARKNET: wallets stand there.');
  if (params.usePasskey && walletType === 'READY') {
    throw new SvcInputError('invalid_input', 'A READY wallet has no passkeys: leave usePasskey out, or take SVC.');
  }
  // First of all: a browser makes a passkey only right after the user's click.
  const { encryptKeys, details } = await newWalletSecrets(client, params);
  const classHash = await walletClassOf(client, walletType, params.classHash);
  const account = newAccount(classHash, walletType, client.runtime);
  const signed = await signCreation(client, { chain, walletType, account, classHash: params.classHash }, bearerToken);
  const { privateKey, address } = account;
  const encryptedPrivateKey = await sealProven({ privateKey, boundTo: address, encryptKeys }, client.runtime);
  const wallet = { publicKey: padded(address), encryptedPrivateKey, walletType };
  const { txHash } = await request<typeof endpoints.createWallet>(client, {
    route: 'POST /svc-wallets',
    access: 'both',
    body: { externalUserId, chain, ...wallet, ...signed, ...details, deploymentData: deployment(account) },
    bearerToken,
  });
  return { ...wallet, classHash: toHex(classHash), transactionHash: txHash };
}

interface Creation {
  readonly chain: Chain;
  readonly walletType: WalletType;
  readonly account: NewAccount;
  /** The service finds the classes that it names itself by the address. */
  readonly classHash: string | undefined;
}

/** What the owner signs is an execution of nothing: it proves the key, and could do no more in other hands. */
async function signCreation(
  client: Client,
  { chain, walletType, account, classHash }: Creation,
  bearerToken?: BearerToken,
) {
  const { address, publicKey, privateKey } = account;
  const { typedData, accountClassHash } = await request<typeof endpoints.prepareWalletCreation>(client, {
    route: 'POST /svc-wallets/prepare-creation',
    access: 'both',
    body: { chain, publicKey: padded(address), walletType, starkKeyPubAX: toHex(publicKey), classHash },
    bearerToken,
  });
  requireClass(accountClassHash, account.classHash);
  const { execution, chainId } = await checkForSigning(client, typedData, { account: address, calls: [] });
  const signature = signExecution(execution, { account: address, chainId, privateKey });
  // The interface wants a recovery bit; accounts check by the x coordinate alone and nobody reads it.
  return { typedData, userSignature: { ...signature, recovery: 0 } };
}

function deployment({ classHash, publicKey, calldata }: NewAccount) {
  return { class_hash: toHex(classHash), salt: toHex(publicKey), unique: '0x0', calldata: calldata.map(toHex) };
}

const padded = (address: bigint) => `0x${hex64(address)}`;
