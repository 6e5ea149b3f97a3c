import { SvcKeyError } from '../client/errors.ts';
import { fromBase64url, toBase64url } from './base64url.ts';
import type { Bytes } from './web-crypto.ts';

/** What a text that opens a key is: something a person remembers, or the secret that a passkey gave. */
export interface EncryptKey {
  readonly kind: 'passphrase' | 'passkey';
  readonly bytes: Bytes;
}

const PASSKEY_PREFIX = 'prf1.';
export const PASSKEY_SECRET_BYTES = 32;

export const isPasskeyKey = (encryptKey: string) => String(encryptKey).startsWith(PASSKEY_PREFIX);

/** The text that stands for a passkey's secret wherever an `encryptKey` is asked for. */
export const passkeyEncryptKey = (secret: Uint8Array) => PASSKEY_PREFIX + toBase64url(secret);

/** Undefined for what no key can be sealed with. */
export function parseEncryptKey(encryptKey: string): EncryptKey | undefined {
  if (typeof encryptKey !== 'string' || encryptKey === '') return undefined;
  if (isPasskeyKey(encryptKey)) {
    const bytes = fromBase64url(encryptKey.slice(PASSKEY_PREFIX.length));
    return bytes?.length === PASSKEY_SECRET_BYTES ? { kind: 'passkey', bytes } : undefined;
  }
  // Encoding would turn every half of a surrogate pair into the same replacement character.
  if (!encryptKey.isWellFormed()) return undefined;
  // Keyboards differ in how they spell an é; a person's passphrase is the same on all of them.
  return { kind: 'passphrase', bytes: new TextEncoder().encode(encryptKey.normalize('NFC')) };
}

export function readEncryptKey(encryptKey: string): EncryptKey {
  const parsed = parseEncryptKey(encryptKey);
  if (parsed) return parsed;
  throw new SvcKeyError(
    'weak_encrypt_key',
    isPasskeyKey(encryptKey)
      ? 'encryptKey begins like the secret of a passkey but is not a whole one.'
      : 'encryptKey must be a text that is not empty.',
  );
}
