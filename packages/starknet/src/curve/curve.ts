import { PRIME as P } from '../felt.ts';
import { invertAll } from './modular.ts';

// y² = x³ + αx + β over the felts; α = 1 for the Stark curve. Coordinates lie between -P and P: only results are made
// non-negative.
export interface Affine {
  readonly x: bigint;
  readonly y: bigint;
}

/** x = X/ZZ, y = Y/ZZZ with ZZ³ = ZZZ²: additions without a division. */
export interface Point {
  readonly x: bigint;
  readonly y: bigint;
  readonly zz: bigint;
  readonly zzz: bigint;
}

export const ORDER = 0x800000000000010ffffffffffffffffb781126dcae7b2321e66a241adc64d2fn;
export const BETA = 0x6f21413efbe40de150e596d72f7a8c5609ad26c15c915c1f4cdfcb99cee9e89n;
export const GENERATOR: Affine = {
  x: 0x1ef15c18599971b7beced415a40f0c7deacfd9b0d1819e03d723d8bc943cfcan,
  y: 0x5668060aa49730b7be4801df46ec62de53ecd11abe43a32873000c36e8dc1fn,
};

export function fromAffine({ x, y }: Affine): Point {
  return { x, y, zz: 1n, zzz: 1n };
}

/** Valid for every point of odd order, so for all points here but zero. */
export function double({ x, y, zz, zzz }: Point, alpha: bigint): Point {
  const u = y + y;
  const v = (u * u) % P;
  const w = (u * v) % P;
  const s = (x * v) % P;
  const slope = (3n * x * x + alpha * ((zz * zz) % P)) % P;
  const x3 = (slope * slope - s - s) % P;
  return { x: x3, y: (slope * (s - x3) - w * y) % P, zz: (v * zz) % P, zzz: (w * zzz) % P };
}

/** The points must be neither equal nor opposite. */
export function add({ x, y, zz, zzz }: Point, other: Affine): Point {
  const p = (other.x * zz - x) % P;
  const r = (other.y * zzz - y) % P;
  const pp = (p * p) % P;
  const ppp = (p * pp) % P;
  const q = (x * pp) % P;
  const x3 = (r * r - ppp - q - q) % P;
  return { x: x3, y: (r * (q - x3) - y * ppp) % P, zz: (zz * pp) % P, zzz: (zzz * ppp) % P };
}

/** No point may be ± the sum of the points before it. Undefined for an empty list. */
export function sumOf(points: readonly Affine[]): Point | undefined {
  let total: Point | undefined;
  for (const point of points) total = total ? add(total, point) : fromAffine(point);
  return total;
}

export function toAffine(points: readonly Point[]): Affine[] {
  const inverses = invertAll(
    points.map(({ zzz }) => zzz),
    P,
  );
  return points.map(({ x, y, zz }, i) => {
    const inverse = inverses[i] ?? 0n;
    // (ZZ/ZZZ)² = 1/ZZ.
    const root = (zz * inverse) % P;
    return { x: (x * ((root * root) % P)) % P, y: (y * inverse) % P };
  });
}
