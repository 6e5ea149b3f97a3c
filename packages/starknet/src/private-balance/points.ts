import { type Affine, ORDER } from '../curve/curve.ts';
import { FixedBase, generator } from '../curve/fixed-base.ts';
import {
  coordinates,
  isPoint,
  modulo,
  negate,
  plus,
  type Sum,
  sumOfAll,
  sumOfMultiples,
  type Term,
} from '../curve/multiples.ts';
import { isFelt } from '../felt.ts';
import { poseidonMany } from '../poseidon.ts';

/** A point of the Stark curve, never zero: a public key, half of a ciphertext, a commitment of a proof. */
export type { Affine as CurvePoint } from '../curve/curve.ts';

/** Tongo's second generator. Its logarithm to the first is not known. */
const second = new FixedBase({
  x: 627088272801405713560985229077786158610581355215145837257248988047835443922n,
  y: 962306405833205337611861169387935900858447421343428280515103558221889311122n,
});
export const G = generator.point;
export const H = second.point;

/** g·G + h·H + the other multiples. */
export function combine(g: bigint, h = 0n, others: readonly Term[] = []): Sum {
  const known = sumOfAll([...generator.select(modulo(g)), ...second.select(modulo(h))]);
  return addSums(sumOfMultiples(others), known);
}

export function addSums(a: Sum, b: Sum): Sum {
  if (!a || !b) return a ?? b;
  const [point] = coordinates([b]);
  return point && plus(a, point);
}

export function addPoints(a: Affine, b: Affine): Sum {
  return sumOfAll([a, b]);
}

export function subtractPoints(a: Affine, b: Affine): Sum {
  return sumOfAll([a, negate(b)]);
}

/** Throws for zero, which no honest value reaches. */
export function toPoint(sum: Sum): Affine {
  const [point] = coordinates([sum]);
  if (!point) throw new RangeError('Zero has no coordinates');
  return point;
}

export function publicPoint(privateKey: bigint): Affine {
  if (privateKey <= 0n || privateKey >= ORDER) throw new RangeError('A private key lies between zero and the order');
  return toPoint(combine(privateKey));
}

const RANDOM_BYTES = 40;

/** From 320 random bits, so that the remainder has no bias. */
export function randomScalar(): bigint {
  let value = 0n;
  for (const byte of crypto.getRandomValues(new Uint8Array(RANDOM_BYTES))) value = (value << 8n) | BigInt(byte);
  return (value % (ORDER - 1n)) + 1n;
}

export function felts(points: readonly Affine[]): bigint[] {
  return points.flatMap(({ x, y }) => [x, y]);
}

export function challenge(prefix: bigint, commitments: readonly Affine[]): bigint {
  return poseidonMany([prefix, ...felts(commitments)]) % ORDER;
}

/** The answer to a challenge: k + c·secret. */
export function response(k: bigint, c: bigint, secret: bigint): bigint {
  return modulo(k + c * secret);
}

export function isScalar(value: bigint): boolean {
  return value >= 0n && value < ORDER && isFelt(value);
}

export { coordinates, isPoint, modulo, type Sum, type Term };
