import { type BodyOf, type endpoints, hex64 } from '@svc/protocol';
import type { BearerToken, Client, Runtime } from '../client/client.ts';
import { SvcInputError } from '../client/errors.ts';
import { request } from '../client/request.ts';
import { readAddress, type SvcWallet } from '../client/values.ts';
import { DEFAULT_STRETCHING, isPasskeyKey, parseEncryptKey, readEncryptKey, type Stretching } from './cipher.ts';
import { isEnvelope, type Slot, unwrap, wrap } from './envelope.ts';
import { type OpenedEnvelope, openEnvelope, openWalletKey, proveSealed, sealKey, sealWith } from './seal.ts';
import { requireStrongEncryptKey } from './secrets.ts';

export interface ChangeEncryptKeyParams<W extends SvcWallet = SvcWallet> {
  readonly externalUserId: string;
  readonly wallet: W;
  /** Opens the wallet now; no longer afterwards. */
  readonly encryptKey: string;
  readonly newEncryptKey: string;
}

const NO_PASSKEY = { authMethod: 'PIN', credentialId: null, prfSupported: null, deviceType: null };

/**
 * Changes the PIN or passphrase of a wallet and returns the wallet with its new ciphertext. Other encryptKeys, such
 * as a passkey or a backup, stay valid. A wallet in the old format is converted, also with an unchanged
 * `newEncryptKey`.
 *
 * The new ciphertext is stored only after it was decrypted once. If the service cannot be reached then, read the
 * wallet again to see which ciphertext is stored.
 *
 * @example
 * const changed = await svc.changeEncryptKey({ externalUserId, wallet, encryptKey, newEncryptKey: 'a longer passphrase' });
 */
export async function changeEncryptKey<W extends SvcWallet>(
  client: Client,
  { externalUserId, wallet, encryptKey, newEncryptKey }: ChangeEncryptKeyParams<W>,
  bearerToken?: BearerToken,
): Promise<W> {
  if (isPasskeyKey(newEncryptKey)) {
    throw new SvcInputError('invalid_input', 'Use changeToPasskey, which also stores how the passkey is found again.');
  }
  readEncryptKey(newEncryptKey);
  await requireStrongEncryptKey(client, newEncryptKey);
  const resealed = await resealKey({ wallet, encryptKey, newEncryptKey }, client.runtime);
  const details = isPasskeyKey(encryptKey) ? NO_PASSKEY : {};
  return storeResealedKey(
    client,
    { externalUserId, wallet, ...resealed, encryptKeys: [newEncryptKey], details },
    bearerToken,
  );
}

export interface KeyToReseal {
  readonly wallet: SvcWallet;
  readonly encryptKey: string;
  readonly newEncryptKey: string;
}

export interface ResealedKey {
  readonly privateKey: bigint;
  readonly envelope: string;
}

/**
 * Replaces one encryptKey. All other slots stay, and with them the data key. Reusing it is safe: a holder of the data
 * key already had the private key.
 */
export async function resealKey(
  { wallet, encryptKey, newEncryptKey }: KeyToReseal,
  runtime: Runtime,
  stretching: Stretching = DEFAULT_STRETCHING,
): Promise<ResealedKey> {
  const secret = readEncryptKey(newEncryptKey);
  const boundTo = readAddress(wallet.publicKey, 'wallet.publicKey');
  if (!isEnvelope(wallet.encryptedPrivateKey)) {
    const privateKey = await openWalletKey({ wallet, encryptKey });
    const envelope = await sealKey({ privateKey, boundTo, encryptKeys: [newEncryptKey] }, runtime, stretching);
    return { privateKey, envelope };
  }
  const opened = await openEnvelope({ envelope: wallet.encryptedPrivateKey, encryptKey, boundTo });
  const { privateKey, dataKey } = opened;
  const address = hex64(boundTo);
  const slot = await wrap(dataKey, secret, address, { runtime, stretching });
  const slots = [slot, ...(await slotsOfOthers(opened, encryptKey, address))];
  return { privateKey, envelope: await sealWith(dataKey, slots, { privateKey, address }, runtime) };
}

export interface EncryptKeyToAdd<W extends SvcWallet = SvcWallet> {
  readonly externalUserId: string;
  readonly wallet: W;
  /** Opens the wallet, now and afterwards. */
  readonly encryptKey: string;
  /** Opens it too, from now on. */
  readonly newEncryptKey: string;
}

/** Adds a secret that opens the wallet; all others go on. */
export async function addEncryptKey<W extends SvcWallet>(
  client: Client,
  { externalUserId, wallet, encryptKey, newEncryptKey }: EncryptKeyToAdd<W>,
  bearerToken?: BearerToken,
): Promise<W> {
  const secret = readEncryptKey(newEncryptKey);
  const boundTo = readAddress(wallet.publicKey, 'wallet.publicKey');
  const opened = await openEnvelope({ envelope: wallet.encryptedPrivateKey, encryptKey, boundTo });
  const address = hex64(boundTo);
  const { runtime } = client;
  const slot = await wrap(opened.dataKey, secret, address, { runtime, stretching: DEFAULT_STRETCHING });
  const { privateKey, dataKey } = opened;
  const envelope = await sealWith(dataKey, [...opened.slots, slot], { privateKey, address }, runtime);
  const encryptKeys = [encryptKey, newEncryptKey];
  return storeResealedKey(
    client,
    { externalUserId, wallet, privateKey, envelope, encryptKeys, details: {} },
    bearerToken,
  );
}

/** An encryptKey may have several slots; all are removed. */
async function slotsOfOthers({ slots, opened }: OpenedEnvelope, encryptKey: string, address: string): Promise<Slot[]> {
  const secret = parseEncryptKey(encryptKey);
  const others: Slot[] = [];
  for (const [index, slot] of slots.entries()) {
    if (index !== opened && secret && !(await unwrap(slot, secret, address))) others.push(slot);
  }
  return others;
}

type Update = BodyOf<typeof endpoints.updateEncryptionDetails>;

export interface KeyToStore extends ResealedKey {
  readonly externalUserId: string;
  readonly wallet: SvcWallet;
  /** The new ones: each must open the envelope before it is stored. */
  readonly encryptKeys: readonly string[];
  readonly details: Pick<Update, 'authMethod' | 'credentialId' | 'prfSupported' | 'deviceType'>;
}

/** Stores a new ciphertext after proving that it opens. Returns the wallet with it. */
export async function storeResealedKey<W extends SvcWallet>(
  client: Client,
  { externalUserId, wallet, privateKey, envelope, encryptKeys, details }: KeyToStore & { readonly wallet: W },
  bearerToken?: BearerToken,
): Promise<W> {
  const boundTo = readAddress(wallet.publicKey, 'wallet.publicKey');
  await proveSealed(envelope, { privateKey, boundTo, encryptKeys });
  await request<typeof endpoints.updateEncryptionDetails>(client, {
    route: 'PATCH /svc-wallets/update-encryption-details',
    access: 'both',
    body: { externalUserId, publicKey: wallet.publicKey, newEncryptedPrivateKey: envelope, ...details },
    bearerToken,
  });
  return { ...wallet, encryptedPrivateKey: envelope };
}
