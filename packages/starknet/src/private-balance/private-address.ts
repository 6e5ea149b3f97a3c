import { ProjectivePoint } from '@scure/starknet';
import type { Affine } from '../curve/curve.ts';

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const BASE = 58n;
const X_BITS = 256n;
/** 33 bytes have at most 46 digits of base 58. */
const TEXT = /^[1-9A-HJ-NP-Za-km-z]{40,46}$/;

/** A private account's address, as Tongo writes it: the compressed public key in base58. */
export function formatPrivateAddress({ x, y }: Affine): string {
  let text = '';
  for (let rest = ((2n + (y & 1n)) << X_BITS) | x; rest > 0n; rest /= BASE) {
    text = ALPHABET.charAt(Number(rest % BASE)) + text;
  }
  return text;
}

/** Undefined unless it is the address of a point on the curve. */
export function parsePrivateAddress(text: string): Affine | undefined {
  if (!TEXT.test(text)) return undefined;
  let value = 0n;
  for (const character of text) value = value * BASE + BigInt(ALPHABET.indexOf(character));
  try {
    const { x, y } = ProjectivePoint.fromHex(value.toString(16).padStart(66, '0')).toAffine();
    return { x, y };
  } catch {
    return undefined;
  }
}
