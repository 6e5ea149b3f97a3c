import { isFelt, PRIME as P } from '../felt.ts';
import { type Affine, add, BETA, double, fromAffine, ORDER, type Point, toAffine } from './curve.ts';

/** Undefined is zero, the neutral point. */
export type Sum = Point | undefined;

export interface Term {
  readonly scalar: bigint;
  readonly point: Affine;
}

/** Hexadecimal digits of a scalar choose among the multiples 1 to 15. */
const DIGIT_BITS = 4;
const MULTIPLES = 15;

export function isPoint({ x, y }: Affine): boolean {
  return isFelt(x) && isFelt(y) && (y * y - x * x * x - x - BETA) % P === 0n;
}

export function negate({ x, y }: Affine): Affine {
  return { x, y: -y };
}

/** Unlike `add`, for any two points: it leaves ZZ zero where they are equal or opposite. */
export function plus(sum: Sum, other: Affine): Sum {
  if (!sum) return fromAffine(other);
  const total = add(sum, other);
  if (total.zz !== 0n) return total;
  return (other.y * sum.zzz - sum.y) % P === 0n ? double(sum, 1n) : undefined;
}

export function sumOfAll(points: Iterable<Affine>): Sum {
  let sum: Sum;
  for (const point of points) sum = plus(sum, point);
  return sum;
}

/** Straus: the doublings are shared by all terms. Scalars may have either sign; the points lie on the curve. */
export function sumOfMultiples(terms: readonly Term[]): Sum {
  const short = terms.map(shortest).filter(({ scalar }) => scalar !== 0n);
  const tables = tablesOf(short);
  const digits = short.map(({ scalar }) => scalar.toString(2 ** DIGIT_BITS));
  const length = Math.max(0, ...digits.map((text) => text.length));
  let sum: Sum;
  for (let place = length; place > 0; place--) {
    for (let i = 0; sum && i < DIGIT_BITS; i++) sum = double(sum, 1n);
    for (const [i, text] of digits.entries()) {
      const digit = place > text.length ? 0 : Number.parseInt(text.charAt(text.length - place), 2 ** DIGIT_BITS);
      const multiple = tables[i * MULTIPLES + digit - 1];
      if (digit > 0 && multiple) sum = plus(sum, multiple);
    }
  }
  return sum;
}

/** A scalar above half the order is the shorter opposite scalar of the opposite point. */
function shortest({ scalar, point }: Term): Term {
  const reduced = modulo(scalar);
  return reduced > ORDER / 2n ? { scalar: ORDER - reduced, point: negate(point) } : { scalar: reduced, point };
}

/** The first 15 multiples of each point, with one inversion for all. */
function tablesOf(terms: readonly Term[]): Affine[] {
  const points: Point[] = [];
  for (const { point } of terms) {
    let multiple = fromAffine(point);
    for (let factor = 1; factor <= MULTIPLES; factor++) {
      points.push(multiple);
      multiple = factor === 1 ? double(multiple, 1n) : add(multiple, point);
    }
  }
  return points.length === 0 ? [] : toAffine(points);
}

/** With coordinates that are felts. Zero has none. */
export function coordinates(sums: readonly Sum[]): Affine[] {
  const points = sums.map((sum) => {
    if (!sum) throw new RangeError('Zero has no coordinates');
    return sum;
  });
  return toAffine(points).map(({ x, y }) => ({ x: x < 0n ? x + P : x, y: y < 0n ? y + P : y }));
}

export function modulo(scalar: bigint): bigint {
  const remainder = scalar % ORDER;
  return remainder < 0n ? remainder + ORDER : remainder;
}
