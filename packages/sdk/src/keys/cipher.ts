import { hex64 } from '@svc/protocol';
import { CURVE_ORDER } from '@svc/starknet';
import { argon2id } from 'hash-wasm';
import { defaultRuntime, type Runtime } from '../client/client.ts';
import { SvcKeyError } from '../client/errors.ts';
import { fromBase64url, toBase64url } from '../client/values.ts';

export type Bytes = Uint8Array<ArrayBuffer>;

const NONCE_BYTES = 12;

/** Browsers provide it on https pages and localhost only. */
export function subtle(): typeof crypto.subtle {
  const found = globalThis.crypto?.subtle;
  if (found !== undefined) return found;
  throw new SvcKeyError('crypto_unavailable', 'WebCrypto is missing: in a browser the page must come by https.');
}

/**
 * AES-256-GCM with a random nonce in front of the ciphertext. `bound` is the additional data: decryption needs the
 * same.
 */
export async function encrypt(key: Bytes, plaintext: Bytes, bound: string, runtime: Runtime): Promise<Bytes> {
  const nonce = runtime.randomBytes(NONCE_BYTES);
  const ciphertext = await subtle().encrypt(algorithm(nonce, bound), await importKey(key, 'encrypt'), plaintext);
  const sealed = new Uint8Array(NONCE_BYTES + ciphertext.byteLength);
  sealed.set(nonce);
  sealed.set(new Uint8Array(ciphertext), NONCE_BYTES);
  return sealed;
}

/** Undefined for another key, another `bound` or altered bytes. */
export async function decrypt(key: Bytes, sealed: Bytes, bound: string): Promise<Bytes | undefined> {
  const aes = await importKey(key, 'decrypt');
  const [nonce, ciphertext] = [sealed.slice(0, NONCE_BYTES), sealed.slice(NONCE_BYTES)];
  try {
    return new Uint8Array(await subtle().decrypt(algorithm(nonce, bound), aes, ciphertext));
  } catch {
    return undefined;
  }
}

const algorithm = (iv: Bytes, bound: string) => ({
  name: 'AES-GCM',
  iv,
  additionalData: new TextEncoder().encode(bound),
});

const importKey = (key: Bytes, use: 'encrypt' | 'decrypt') => subtle().importKey('raw', key, 'AES-GCM', false, [use]);

export interface Stretching {
  readonly memoryKib: number;
  readonly passes: number;
  readonly lanes: number;
}

/**
 * Second recommendation of RFC 9106, with one lane since browsers run one: under a second for the owner. An attacker
 * who has the ciphertext can still guess a six-digit PIN in minutes to days, but not a long passphrase or a passkey.
 */
export const DEFAULT_STRETCHING: Stretching = { memoryKib: 65_536, passes: 3, lanes: 1 };

const KEY_BYTES = 32;

/** Argon2id, for low-entropy secrets. */
export async function stretch(secret: Bytes, salt: Bytes, { memoryKib, passes, lanes }: Stretching): Promise<Bytes> {
  try {
    const key = await argon2id({
      password: secret,
      salt,
      memorySize: memoryKib,
      iterations: passes,
      parallelism: lanes,
      hashLength: KEY_BYTES,
      outputType: 'binary',
    });
    return new Uint8Array(key);
  } catch (cause) {
    throw new SvcKeyError(
      'crypto_unavailable',
      `Argon2id could not run here: it needs WebAssembly ('wasm-unsafe-eval' in a page's policy) and ${memoryKib} KiB.`,
      { cause },
    );
  }
}

const INFO = new TextEncoder().encode('svc1 slot');

/** HKDF-SHA-256, for high-entropy secrets. */
export async function expand(secret: Bytes, salt: Bytes): Promise<Bytes> {
  const key = await subtle().importKey('raw', secret, 'HKDF', false, ['deriveBits']);
  const algorithm = { name: 'HKDF', hash: 'SHA-256', salt, info: INFO };
  return new Uint8Array(await subtle().deriveBits(algorithm, key, KEY_BYTES * 8));
}

export interface EncryptKey {
  readonly kind: 'passphrase' | 'passkey';
  readonly bytes: Bytes;
}

const PASSKEY_PREFIX = 'prf1.';
export const PASSKEY_SECRET_BYTES = 32;

export const isPasskeyKey = (encryptKey: string) => String(encryptKey).startsWith(PASSKEY_PREFIX);

export const passkeyEncryptKey = (secret: Uint8Array) => PASSKEY_PREFIX + toBase64url(secret);

/** Undefined if the text cannot be used as an encryptKey. */
export function parseEncryptKey(encryptKey: string): EncryptKey | undefined {
  if (typeof encryptKey !== 'string' || encryptKey === '') return undefined;
  if (isPasskeyKey(encryptKey)) {
    const bytes = fromBase64url(encryptKey.slice(PASSKEY_PREFIX.length));
    return bytes?.length === PASSKEY_SECRET_BYTES ? { kind: 'passkey', bytes } : undefined;
  }
  // Encoding maps every lone surrogate to the same replacement character.
  if (!encryptKey.isWellFormed()) return undefined;
  // Keyboards differ in the Unicode form of é; NFC makes them equal.
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

const PRIVATE_KEY_BYTES = 32;

export const isPrivateKey = (key: bigint) => key > 0n && key < CURVE_ORDER;

export function privateKeyBytes(key: bigint): Bytes {
  const digits = hex64(key);
  return Uint8Array.from({ length: PRIVATE_KEY_BYTES }, (_, i) => Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16));
}

export function parsePrivateKey(bytes: Bytes): bigint | undefined {
  if (bytes.length !== PRIVATE_KEY_BYTES) return undefined;
  const key = integer(bytes);
  return isPrivateKey(key) ? key : undefined;
}

export const integer = (bytes: Uint8Array) => bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);

/** 128 bits more than a key, so that the bias of the remainder is below 2^-128. */
const RANDOM_BYTES = 48;

export function newPrivateKey(runtime: Runtime = defaultRuntime): bigint {
  return (integer(runtime.randomBytes(RANDOM_BYTES)) % (CURVE_ORDER - 1n)) + 1n;
}
