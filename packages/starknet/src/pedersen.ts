import { type Affine, add, fromAffine } from './curve/curve.ts';
import { invertAll } from './curve/modular.ts';
import { buildWindows, select, type Windows } from './curve/windows.ts';
import { engine } from './engine.ts';
import { isFelt, PRIME } from './felt.ts';

/** One base each for a felt's 248 low and 4 high bits. */
export const SHIFT = point(
  0x49ee3eba8c1600700ee1b87eb599f16716b0b1022947733551fde4050ca6804n,
  0x3ca0cfe4b3bc6ddf346d49d06ea0ed34e621062c0e056c1d0405d266e10268an,
);
const LOW_BITS = 248;
const HIGH_BITS = 4;
export const BASES = {
  left: {
    low: point(
      0x234287dcbaffe7f969c748655fca9e58fa8120b6d56eb0c1080d17957ebe47bn,
      0x3b056f100f96fb21e889527d41f4e39940135dd7a6c94cc6ed0268ee89e5615n,
    ),
    high: point(
      0x4fa56f376c83db33f9dab2656558f3399099ec1de5e3018b7a6932dba8aa378n,
      0x3fa0984c931c9e38113e0c0e47e4401562761f92a7a23b45168f4e80ff5b54dn,
    ),
  },
  right: {
    low: point(
      0x4ba4cc166be8dec764910f75b45f74b40c690c74709e90f3aa372f0bd2d6997n,
      0x40301cf5c1751f4b971e46c4ede85fcac5c59a5ce5ae7c48151f27b24b219cn,
    ),
    high: point(
      0x54302dcb0e6cc1c6e44cca8f61a63bb2ca65048d53fb325d36ff12c49a58202n,
      0x1b77b3e37d13504b348046268d8ae25ce98ad783c25561a879dcc77e99c2426n,
    ),
  },
} as const;

/** Built on first use: about 16,000 points, as costly as some hundred hashes without them. */
let tables: { readonly left: Windows; readonly right: Windows } | undefined;

export function pedersen(a: bigint, b: bigint): bigint {
  const [hash] = pedersenEach(a, [b]);
  if (hash === undefined) throw new Error('A felt has no hash.');
  return hash;
}

/**
 * `pedersen(a, other)` for each of them, with the sum of the first felt and the division made once. A point equal to ± the sum before it
 * would be a hash collision, so `sumOf` applies.
 */
export function pedersenEach(a: bigint, others: readonly bigint[]): bigint[] {
  if (!isFelt(a) || !others.every(isFelt)) throw new RangeError('Only felts can be hashed');
  if (others.length === 0) return [];
  const faster = engine();
  if (faster) return faster.pedersenEach(a, others);
  tables ??= { left: table(BASES.left), right: table(BASES.right) };
  const { left, right } = tables;
  const first = select(left, a).reduce(add, fromAffine(SHIFT));
  const sums = others.map((other) => select(right, other).reduce(add, first));
  const inverses = invertAll(
    sums.map(({ zz }) => zz),
    PRIME,
  );
  return sums.map(({ x }, index) => {
    const hash = (x * (inverses[index] ?? 0n)) % PRIME;
    return hash < 0n ? hash + PRIME : hash;
  });
}

export function pedersenMany(items: readonly bigint[]): bigint {
  let hash = 0n;
  for (const item of items) hash = pedersen(hash, item);
  return pedersen(hash, BigInt(items.length));
}

function table(bases: { readonly low: Affine; readonly high: Affine }): Windows {
  return [...buildWindows(bases.low, LOW_BITS), ...buildWindows(bases.high, HIGH_BITS)];
}

function point(x: bigint, y: bigint): Affine {
  return { x, y };
}
