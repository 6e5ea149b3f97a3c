import { CURVE_ORDER } from '@svc/starknet';
import { hex64 } from './hex-64.ts';
import type { Bytes } from './web-crypto.ts';

const KEY_BYTES = 32;

export const isPrivateKey = (key: bigint) => key > 0n && key < CURVE_ORDER;

export function privateKeyBytes(key: bigint): Bytes {
  const digits = hex64(key);
  return Uint8Array.from({ length: KEY_BYTES }, (_, i) => Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16));
}

/** Undefined for bytes that are not a key of the Stark curve. */
export function parsePrivateKey(bytes: Bytes): bigint | undefined {
  if (bytes.length !== KEY_BYTES) return undefined;
  const key = integer(bytes);
  return isPrivateKey(key) ? key : undefined;
}

export const integer = (bytes: Uint8Array) => bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
