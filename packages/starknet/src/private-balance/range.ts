import type { Affine } from '../curve/curve.ts';
import { PRIME } from '../felt.ts';
import type { Equations } from './equations.ts';
import { challenge, combine, G, H, isPoint, isScalar, modulo, randomScalar, response, type Sum } from './points.ts';

export interface BitProof {
  readonly A0: Affine;
  readonly A1: Affine;
  readonly c0: bigint;
  readonly s0: bigint;
  readonly s1: bigint;
}

/** Each commitment is bit · G + r · H; each proof says that the bit is 0 or 1 without saying which. */
export interface Range {
  readonly commitments: readonly Affine[];
  readonly proofs: readonly BitProof[];
}

interface PreparedBit {
  readonly bit: bigint;
  readonly randomness: bigint;
  /** Of the case that is true. */
  readonly k: bigint;
  /** Challenge and response of the case that is simulated. */
  readonly c: bigint;
  readonly s: bigint;
}

export interface PreparedRange {
  /** Commitment, A0 and A1 of each bit. */
  readonly sums: readonly Sum[];
  /** Of the commitments' sum with their powers of two, which commits to the value. */
  readonly randomness: bigint;
  /** `points` are the sums' coordinates. */
  prove(prefix: bigint, points: readonly Affine[]): Range;
}

/** The points do not depend on the challenges, so that a caller normalises all of a proof's points together. */
export function prepareRange(value: bigint, bits: number): PreparedRange {
  if (value < 0n || value >> BigInt(bits) !== 0n) throw new RangeError(`The amount needs more than ${bits} bits`);
  const prepared = Array.from(
    { length: bits },
    (_, index): PreparedBit => ({
      bit: (value >> BigInt(index)) & 1n,
      randomness: randomScalar(),
      k: randomScalar(),
      c: randomScalar(),
      s: randomScalar(),
    }),
  );
  return {
    sums: prepared.flatMap(sumsOf),
    randomness: modulo(prepared.reduce((sum, { randomness }, index) => sum + (randomness << BigInt(index)), 0n)),
    prove: (prefix, points) => {
      const triples = prepared.map((_, index) => points.slice(3 * index, 3 * index + 3));
      return {
        commitments: triples.map(([commitment = G]) => commitment),
        proofs: prepared.map((bit, index) => answer(bit, bitPrefix(prefix, index), triples[index] ?? [])),
      };
    },
  };
}

/** A simulated commitment is s · H - c · (V - bit · G), written with the randomness of V: two fixed bases. */
function sumsOf({ bit, randomness, k, c, s }: PreparedBit): Sum[] {
  const V = combine(bit, randomness);
  const real = combine(0n, k);
  const simulated = combine(bit === 0n ? c : -c, s - c * randomness);
  return bit === 0n ? [V, real, simulated] : [V, simulated, real];
}

function answer({ bit, randomness, k, c: simulated, s }: PreparedBit, prefix: bigint, points: readonly Affine[]) {
  const [, A0 = G, A1 = G] = points;
  const real = modulo(challenge(prefix, points) - simulated);
  const own = response(k, real, randomness);
  return bit === 0n ? { A0, A1, c0: real, s0: own, s1: s } : { A0, A1, c0: simulated, s0: s, s1: own };
}

function bitPrefix(prefix: bigint, index: number): bigint {
  return (prefix + BigInt(index)) % PRIME;
}

/** Adds that `total` commits to a number of so many bits. False if the proof cannot be one. */
export function expectRange(equations: Equations, range: Range, prefix: bigint, bits: number, total: Affine): boolean {
  const { commitments, proofs } = range;
  if (commitments.length !== bits || proofs.length !== bits) return false;
  for (const [index, { A0, A1, c0, s0, s1 }] of proofs.entries()) {
    const V = commitments[index] ?? G;
    if (![V, A0, A1].every(isPoint) || !isScalar(c0)) return false;
    const c1 = modulo(challenge(bitPrefix(prefix, index), [V, A0, A1]) - c0);
    equations.expect([[s0, H]], A0, c0, [[1n, V]]);
    equations.expect([[s1, H]], A1, c1, [
      [1n, V],
      [-1n, G],
    ]);
  }
  equations.expectSum(
    commitments.map((V, index) => [1n << BigInt(index), V] as const),
    total,
  );
  return true;
}
