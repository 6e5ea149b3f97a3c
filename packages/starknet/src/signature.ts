import { getStarkKey, sign as signDeterministically } from '@scure/starknet';
import { multiply } from './curve/comb.ts';
import { BETA, ORDER, sumOf } from './curve/curve.ts';
import { generator } from './curve/fixed-base.ts';
import { invert } from './curve/modular.ts';
import { publicKeyFrom } from './curve/public-key.ts';
import { type Engine, engine, type Fraction } from './engine.ts';
import { isFelt, PRIME as P, toHex } from './felt.ts';
import { memoize } from './memoize.ts';

export interface StarkSignature {
  readonly r: bigint;
  readonly s: bigint;
}

export function starkKey(privateKey: bigint): bigint {
  return BigInt(getStarkKey(toHex(privateKey)));
}

/** Deterministic (RFC 6979). Hashes above 2^251 cannot be signed. */
export function sign(hash: bigint, privateKey: bigint): StarkSignature {
  const { r, s } = signDeterministically(toHex(hash), toHex(privateKey));
  return { r, s };
}

// Cairo's check: r is the x coordinate of (hash/s) · G + (r/s) · Q for either point Q with the key's x. (r, -s) is as
// valid as (r, s), so a signature must never serve as an identifier.
export function verify(hash: bigint, publicKey: bigint, r: bigint, s: bigint): boolean {
  if (!isFelt(hash) || !isFelt(publicKey) || r <= 0n || r >= ORDER || s <= 0n || s >= ORDER) return false;
  return cachedCheck({ hash, publicKey, r, s });
}

interface SignatureCheck extends StarkSignature {
  readonly hash: bigint;
  readonly publicKey: bigint;
}

const MAX_CACHED = 1_024;

const cachedCheck = memoize(MAX_CACHED, isValid, ({ hash, publicKey, r, s }) => [hash, publicKey, r, s].join());

function isValid({ hash, publicKey, r, s }: SignatureCheck): boolean {
  const { keyMultiple, generatorMultiple } = engine() ?? plain;
  const inverse = invert(s, ORDER);
  const fromKey = keyMultiple(publicKey, (r * inverse) % ORDER);
  if (!fromKey) return false;
  const fromHash = generatorMultiple((hash * inverse) % ORDER);
  if (!fromHash) return (r * fromKey.under - fromKey.over) % P === 0n;
  return isSumOrDifference(r, fromHash, fromKey);
}

export const plain: Pick<Engine, 'keyMultiple' | 'generatorMultiple'> = {
  keyMultiple(publicKey, scalar) {
    const key = publicKeyFrom(publicKey);
    if (!key) return undefined;
    const { x, zz } = multiply(key.comb, scalar);
    return { over: x, under: (zz * key.scale) % P };
  },
  generatorMultiple(scalar) {
    const total = sumOf(generator.select(scalar));
    return total && { over: total.x, under: total.zz };
  },
};

// The x coordinates of A ± B are the roots of t²(a - b)² - 2t((a + b)(1 + ab) + 2β) + (ab - 1)² - 4β(a + b): tests both
// signs at once, without a division.
function isSumOrDifference(t: bigint, a: Fraction, b: Fraction): boolean {
  const left = (a.over * b.under) % P;
  const right = (b.over * a.under) % P;
  const overs = (a.over * b.over) % P;
  const unders = (a.under * b.under) % P;
  const square = (left - right) ** 2n % P;
  const middle = ((left + right) * (overs + unders) + 2n * BETA * ((unders * unders) % P)) % P;
  const constant = (overs - unders) ** 2n - 4n * BETA * (((left + right) * unders) % P);
  return (t * (t * square - 2n * middle) + constant) % P === 0n;
}
