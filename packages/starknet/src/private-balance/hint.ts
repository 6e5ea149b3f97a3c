import { xchacha20poly1305 } from '@noble/ciphers/chacha.js';
import type { Affine } from '../curve/curve.ts';
import { sumOfMultiples } from '../curve/multiples.ts';
import type { Hint } from './calldata.ts';
import { toPoint } from './points.ts';

const KEY_BYTES = 32;
const NONCE_BYTES = 24;
/** 44 random bytes, then the amount in 4. */
const PLAIN_BYTES = 48;
const AMOUNT_BYTES = 4;
const CIPHER_BYTES = 64;
const POINT_BYTES = 32;
const COUNTER_BYTES = 8;
const INFO_BYTES = 64;
const UNCOMPRESSED = 4;
const TAG = new TextEncoder().encode('tongo');

/** Two keys and a nonce give the same secret from either side: one's own key for a balance, the other's for a transfer. */
export interface HintKey {
  readonly privateKey: bigint;
  readonly publicKey: Affine;
  readonly pool: bigint;
  readonly nonce: bigint;
}

export async function encryptHint(key: HintKey, amount: bigint): Promise<Hint> {
  if (amount < 0n || amount >> BigInt(8 * AMOUNT_BYTES) !== 0n) throw new RangeError('A hint holds 32 bits');
  const plain = crypto.getRandomValues(new Uint8Array(PLAIN_BYTES));
  plain.set(bytesOf(amount, AMOUNT_BYTES), PLAIN_BYTES - AMOUNT_BYTES);
  const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  const sealed = xchacha20poly1305(await cipherKey(key), nonce).encrypt(plain);
  return { ciphertext: integerOf(sealed), nonce: integerOf(nonce) };
}

/** Undefined for a hint that was not made with this key. It proves nothing about the balance itself. */
export async function decryptHint(key: HintKey, { ciphertext, nonce }: Hint): Promise<bigint | undefined> {
  if (nonce >> BigInt(8 * NONCE_BYTES) !== 0n || ciphertext >> BigInt(8 * CIPHER_BYTES) !== 0n) return undefined;
  const cipher = xchacha20poly1305(await cipherKey(key), bytesOf(nonce, NONCE_BYTES));
  try {
    return integerOf(cipher.decrypt(bytesOf(ciphertext, CIPHER_BYTES)).subarray(PLAIN_BYTES - AMOUNT_BYTES));
  } catch {
    return undefined;
  }
}

/** HKDF-SHA-256 of the keys' shared point, bound to the pool and the nonce. */
async function cipherKey({ privateKey, publicKey, pool, nonce }: HintKey): Promise<Uint8Array> {
  const { x, y } = toPoint(sumOfMultiples([{ point: publicKey, scalar: privateKey }]));
  const shared = concatenate(bytesOf(x, POINT_BYTES), bytesOf(y, POINT_BYTES));
  const secret = concatenate(new Uint8Array([UNCOMPRESSED]), shared);
  const salt = await crypto.subtle.digest('SHA-256', concatenate(bytesOf(nonce, COUNTER_BYTES), shared));
  const info = new Uint8Array(INFO_BYTES);
  info.set(concatenate(TAG, bytesOf(pool, POINT_BYTES)));
  const base = await crypto.subtle.importKey('raw', secret, 'HKDF', false, ['deriveBits']);
  const derived = await crypto.subtle.deriveBits({ name: 'HKDF', hash: 'SHA-256', salt, info }, base, 8 * KEY_BYTES);
  return new Uint8Array(derived);
}

function bytesOf(value: bigint, length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  for (let i = length - 1, rest = value; i >= 0; i--, rest >>= 8n) bytes[i] = Number(rest & 0xffn);
  return bytes;
}

function integerOf(bytes: Uint8Array): bigint {
  return bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);
}

function concatenate(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}
