import { type Affine, fromAffine, type Point } from '../curve/curve.ts';
import { plus, sumOfMultiples } from '../curve/multiples.ts';
import { addPoints, addSums, combine, coordinates, G, type Sum, subtractPoints, toPoint } from './points.ts';

/** ElGamal on the curve: L = amount · G + r · key, R = r · G. Sums of ciphertexts encrypt sums of amounts. */
export interface CipherBalance {
  readonly L: Affine;
  readonly R: Affine;
}

export function encryptAmount(key: Affine, amount: bigint, randomness: bigint): CipherBalance {
  const L = toPoint(combine(amount, 0n, [{ point: key, scalar: randomness }]));
  return { L, R: toPoint(combine(randomness)) };
}

/** What the contract shows for an account that it does not know: zero, with randomness 1. */
export function emptyBalance(key: Affine): CipherBalance {
  return { L: key, R: G };
}

/** Throws where a half would be zero, as the contract does. */
export function addBalances(a: CipherBalance, b: CipherBalance): CipherBalance {
  return { L: toPoint(addPoints(a.L, b.L)), R: toPoint(addPoints(a.R, b.R)) };
}

export function subtractBalances(a: CipherBalance, b: CipherBalance): CipherBalance {
  return { L: toPoint(subtractPoints(a.L, b.L)), R: toPoint(subtractPoints(a.R, b.R)) };
}

/** amount · G */
function decrypted({ L, R }: CipherBalance, privateKey: bigint): Sum {
  return sumOfMultiples([
    { point: L, scalar: 1n },
    { point: R, scalar: -privateKey },
  ]);
}

export function encrypts(balance: CipherBalance, privateKey: bigint, amount: bigint): boolean {
  return addSums(decrypted(balance, privateKey), combine(-amount)) === undefined;
}

/** Giant steps in groups, each with one inversion. */
const GROUP = 256;
const tables = new Map<bigint, ReadonlyMap<bigint, bigint>>();

/** The hint first; without a good one a search in 2^(bits / 2) steps. Undefined: the amount has more bits. */
export function decryptBalance(
  balance: CipherBalance,
  privateKey: bigint,
  bits: number,
  hint?: bigint,
): bigint | undefined {
  if (hint !== undefined && encrypts(balance, privateKey, hint)) return hint;
  const target = decrypted(balance, privateKey);
  return target ? search(toPoint(target), bits) : 0n;
}

/** Baby steps and giant steps. */
function search(target: Affine, bits: number): bigint | undefined {
  const count = 1n << BigInt(Math.ceil(bits / 2));
  const babies = tables.get(count) ?? babySteps(count);
  tables.set(count, babies);
  const stride = toPoint(combine(-count));
  let sum: Sum = fromAffine(target);
  for (let giant = 0n; giant <= count; ) {
    const group: Point[] = [];
    for (let i = 0; i < GROUP; i++, sum = plus(sum, stride)) {
      if (!sum) return (giant + BigInt(i)) * count;
      group.push(sum);
    }
    for (const { x } of coordinates(group)) {
      const baby = babies.get(x);
      const amounts = baby === undefined ? [] : [giant * count + baby, giant * count - baby];
      const found = amounts.find((amount) => isMultiple(target, amount));
      if (found !== undefined) return found;
      giant += 1n;
    }
  }
  return undefined;
}

/** The x coordinates of 1 · G to (count - 1) · G. */
function babySteps(count: bigint): ReadonlyMap<bigint, bigint> {
  const points: Point[] = [];
  let sum: Sum;
  for (let i = 1n; i < count; i++) {
    sum = plus(sum, G);
    if (sum) points.push(sum);
  }
  return new Map(coordinates(points).map(({ x }, index) => [x, BigInt(index) + 1n]));
}

function isMultiple(target: Affine, amount: bigint): boolean {
  const [point] = coordinates([combine(amount)]);
  return point?.x === target.x && point.y === target.y;
}
