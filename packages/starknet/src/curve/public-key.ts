import { PRIME as P } from '../felt.ts';
import { remember } from '../remember.ts';
import { buildComb, type Comb } from './comb.ts';
import { BETA } from './curve.ts';

/** A public key ready to be multiplied: `multiply(comb, k)` has the x coordinate of k · key times `scale`. */
export interface PublicKey {
  readonly comb: Comb;
  readonly scale: bigint;
}

/** A key's table takes some 10 kB; the keys in use stay, and a flood of new ones cannot fill memory. */
const MAX_KEYS = 1_000;

/** Undefined when no point of the curve has this x coordinate. */
export const publicKeyFrom = remember(MAX_KEYS, prepare);

/**
 * The key's y is a square root, which is dear in this field, and it is not needed. With d = y² = x³ + x + β the point
 * (dx, d²) lies on y² = x³ + d²x + d³β; stretching by √d maps the Stark curve onto that one and multiplies x by d.
 * So all multiples are taken there, and both signs of y, which the sign of √d stands for, have the same x.
 */
function prepare(x: bigint): PublicKey | undefined {
  const d = (x * x * x + x + BETA) % P;
  if (!isSquare(d)) return undefined;
  const dd = (d * d) % P;
  return { comb: buildComb({ x: (d * x) % P, y: dd }, dd), scale: d };
}

/** Euler's criterion: d^((P-1)/2) is one. (P-1)/2 is (2^59 + 17) · 2^191. */
function isSquare(d: bigint): boolean {
  let power = d;
  for (let i = 0; i < 55; i++) power = (power * power) % P;
  power = (power * d) % P;
  for (let i = 0; i < 4; i++) power = (power * power) % P;
  power = (power * d) % P;
  for (let i = 0; i < 191; i++) power = (power * power) % P;
  return power === 1n;
}
