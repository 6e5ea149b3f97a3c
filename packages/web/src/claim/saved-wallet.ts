import type { NewRecipientWallet, Runtime } from '@svc/sdk';
import { type KeyValueStorage, newIdempotencyKey } from './saved-redeem.ts';

/** A wallet that this device is making with a code. Saved before it is sent; it holds ciphertext and signatures, no secret. */
export interface SavedWallet {
  readonly code: string;
  readonly draft: NewRecipientWallet;
  readonly idempotencyKey: string;
  readonly amount: string;
  readonly token: string;
  readonly orgName: string;
  /** Set once the service has made it. */
  readonly redeemId?: string;
  readonly status?: 'PENDING' | 'SUCCESS';
}

const storageKey = (code: string) => `svc-claim-wallet:${code.toUpperCase()}`;

export function loadWallet(storage: KeyValueStorage, code: string): SavedWallet | undefined {
  try {
    const saved = JSON.parse(storage.getItem(storageKey(code)) ?? 'null') as Partial<SavedWallet> | null;
    const isWhole = typeof saved?.draft?.publicKey === 'string' && typeof saved.idempotencyKey === 'string';
    return isWhole ? (saved as SavedWallet) : undefined;
  } catch {
    return undefined;
  }
}

export const saveWallet = (storage: KeyValueStorage, wallet: SavedWallet): void =>
  storage.setItem(storageKey(wallet.code), JSON.stringify(wallet));

export const deleteWallet = (storage: KeyValueStorage, code: string): void => storage.removeItem(storageKey(code));

export const newWalletOf = (
  about: Pick<SavedWallet, 'code' | 'draft' | 'amount' | 'token' | 'orgName'>,
  runtime: Pick<Runtime, 'randomBytes'>,
): SavedWallet => ({ ...about, idempotencyKey: newIdempotencyKey(runtime) });

/** A wallet that this device can open. Kept here alone: the service links no wallets to each other. */
export interface DeviceWallet {
  readonly id: string;
  readonly address: string;
  readonly orgName: string;
  /** Of the passkey; undefined with a passphrase. */
  readonly credentialId?: string;
  /** Signs in where there is no passkey. It opens no key. */
  readonly recoverySecret?: string;
}

const DEVICE_KEY = 'svc-wallets';
const MAX_WALLETS = 20;

/** Newest first. */
export function deviceWallets(storage: KeyValueStorage): DeviceWallet[] {
  try {
    const saved: unknown = JSON.parse(storage.getItem(DEVICE_KEY) ?? '[]');
    return Array.isArray(saved) ? saved.filter(isDeviceWallet) : [];
  } catch {
    return [];
  }
}

export function rememberWallet(storage: KeyValueStorage, wallet: DeviceWallet): void {
  const others = deviceWallets(storage).filter(({ id }) => id !== wallet.id);
  storage.setItem(DEVICE_KEY, JSON.stringify([wallet, ...others].slice(0, MAX_WALLETS)));
}

export function forgetWallet(storage: KeyValueStorage, id: string): void {
  storage.setItem(DEVICE_KEY, JSON.stringify(deviceWallets(storage).filter((wallet) => wallet.id !== id)));
}

const isDeviceWallet = (value: unknown): value is DeviceWallet => {
  const { id, address, orgName } = (value ?? {}) as Partial<DeviceWallet>;
  return [id, address, orgName].every((text) => typeof text === 'string');
};
