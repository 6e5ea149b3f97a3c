import type { Affine } from '../curve/curve.ts';
import { combine, G, H, isPoint, isScalar, modulo, type Term } from './points.ts';

const WEIGHT_BYTES = 16;

export type Combination = readonly (readonly [scalar: bigint, point: Affine])[];
/** Multiples of points, or of their opposites. */
export type Responses = readonly (readonly [scalar: bigint, point: Affine, sign?: -1n])[];

/**
 * The statements of a proof, each `left = commitment + c · value`. All are checked with one sum: each is multiplied by a
 * random number of 128 bits, so a false one stays unnoticed with a probability of 2^-128.
 */
export class Equations {
  readonly #scalars = new Map<Affine, bigint>();
  #wellFormed = true;

  /** Responses must be below the order and challenges not zero, as the contract demands. */
  expect(left: Responses, commitment: Affine, c: bigint, value: Combination): void {
    if (c === 0n || !isScalar(c) || !left.every(([scalar]) => isScalar(scalar))) this.#wellFormed = false;
    const weight = randomWeight();
    for (const [scalar, point, sign = 1n] of left) this.#add(point, weight * scalar * sign);
    this.#add(commitment, -weight);
    for (const [scalar, point] of value) this.#add(point, -weight * c * scalar);
  }

  /** The combination is the point. */
  expectSum(sum: Combination, point: Affine): void {
    const weight = randomWeight();
    for (const [scalar, one] of sum) this.#add(one, weight * scalar);
    this.#add(point, -weight);
  }

  hold(): boolean {
    if (!this.#wellFormed) return false;
    const terms: Term[] = [...this.#scalars].map(([point, scalar]) => ({ point, scalar: modulo(scalar) }));
    if (!terms.every(({ point }) => isPoint(point))) return false;
    const scalarOf = (point: Affine) => this.#scalars.get(point) ?? 0n;
    const others = terms.filter(({ point }) => point !== G && point !== H);
    return combine(scalarOf(G), scalarOf(H), others) === undefined;
  }

  #add(point: Affine, scalar: bigint): void {
    this.#scalars.set(point, (this.#scalars.get(point) ?? 0n) + scalar);
  }
}

function randomWeight(): bigint {
  let weight = 1n;
  for (const byte of crypto.getRandomValues(new Uint8Array(WEIGHT_BYTES))) weight = (weight << 8n) | BigInt(byte);
  return weight;
}
