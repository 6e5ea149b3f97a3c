import { type Affine, add, double, fromAffine, type Point, toAffine } from './curve.ts';

/** 255 points per row; 8 bits divide a felt's 248. */
const WINDOW_BITS = 8;
const WINDOW_MASK = 2n ** BigInt(WINDOW_BITS) - 1n;

/** rows[i][d - 1] = d · 2^(8i) · base: a multiple is a sum of one point per row. */
export type Windows = readonly (readonly Affine[])[];

export function buildWindows(base: Affine, bits: number): Windows {
  const rows: Affine[][] = [];
  let next: Affine | undefined = base;
  for (let left = bits; left > 0 && next; left -= WINDOW_BITS) {
    const row = multiples(next, 2 ** Math.min(left, WINDOW_BITS));
    next = row.pop();
    rows.push(row);
  }
  return rows;
}

/** Even multiples are doubled, so no point is added to itself. */
function multiples(base: Affine, count: number): Affine[] {
  const points: Point[] = [fromAffine(base)];
  for (let d = 2; d <= count; d++) {
    const half = points[d / 2 - 1];
    const previous = points[d - 2];
    if (half) points.push(double(half, 1n));
    else if (previous) points.push(add(previous, base));
  }
  return toAffine(points);
}

export function select(windows: Windows, scalar: bigint): Affine[] {
  const points: Affine[] = [];
  let rest = scalar;
  for (const row of windows) {
    const point = row[Number(rest & WINDOW_MASK) - 1];
    if (point) points.push(point);
    rest >>= BigInt(WINDOW_BITS);
  }
  return points;
}
