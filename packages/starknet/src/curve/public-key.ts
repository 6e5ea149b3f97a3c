import { PRIME as P } from '../felt.ts';
import { memoize } from '../memoize.ts';
import { buildComb, type Comb } from './comb.ts';
import { type Affine, BETA } from './curve.ts';

/** `multiply(comb, k)` has the x coordinate of k · key times `scale`. */
export interface PublicKey {
  readonly comb: Comb;
  readonly scale: bigint;
}

/** About 10 kB per key; the bound limits memory. */
const MAX_KEYS = 1_000;

export const publicKeyFrom = memoize(MAX_KEYS, prepare);

function prepare(x: bigint): PublicKey | undefined {
  const { scale, base, alpha } = scaledKey(x);
  return isSquare(scale) ? { comb: buildComb(base, alpha), scale } : undefined;
}

/** A point on the curve with coefficient `alpha`, whose multiples have x times `scale`. */
export interface ScaledKey {
  readonly scale: bigint;
  readonly base: Affine;
  readonly alpha: bigint;
}

// Avoids the costly square root y. With d = y² = x³ + x + β, the point (dx, d²) lies on y² = x³ + d²x + d³β; scaling by
// √d maps the Stark curve onto it and multiplies x by d. Both signs of y give the same x.
export function scaledKey(x: bigint): ScaledKey {
  const d = (x * x * x + x + BETA) % P;
  const dd = (d * d) % P;
  return { scale: d, base: { x: (d * x) % P, y: dd }, alpha: dd };
}

/** Euler's criterion: d^((P-1)/2) = 1, where (P-1)/2 = (2^59 + 17) · 2^191. */
function isSquare(d: bigint): boolean {
  let power = d;
  for (let i = 0; i < 55; i++) power = (power * power) % P;
  power = (power * d) % P;
  for (let i = 0; i < 4; i++) power = (power * power) % P;
  power = (power * d) % P;
  for (let i = 0; i < 191; i++) power = (power * power) % P;
  return power === 1n;
}
