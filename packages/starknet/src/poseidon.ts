import { poseidonSmall } from '@scure/starknet';
import { engine } from './engine.ts';
import { isFelt, PRIME as P } from './felt.ts';

/** Hades permutation: 91 rounds on three felts; all but the first and last four cube only c. */
const ROUNDS = poseidonSmall.roundConstants.length;
const FULL_ROUNDS = 4;
/** Unreduced sums grow by less than two bits a round; 16 rounds still multiply about as fast. */
const REDUCE_EVERY = 16;

type Triple = readonly [bigint, bigint, bigint];
export const ROUND_KEYS = schedule();
const {
  first,
  partial: [enter = 0n, ...middle],
  last,
} = ROUND_KEYS;

export function poseidon(a: bigint, b: bigint): bigint {
  check(a);
  check(b);
  return engine()?.poseidon(a, b, 2n) ?? reduce(permute(a, b, 2n)[0]);
}

const EMPTY = absorb([]);

export function poseidonMany(items: readonly bigint[]): bigint {
  if (items.length === 0) return EMPTY;
  const faster = engine();
  return faster ? faster.poseidonMany(padded(items)) : absorb(items);
}

function padded(items: readonly bigint[]): bigint[] {
  const even = items.length + 2 - (items.length % 2);
  return Array.from({ length: even }, (_, index) => itemAt(items, index));
}

function absorb(items: readonly bigint[]): bigint {
  let state: Triple = [0n, 0n, 0n];
  for (let i = 0; i <= items.length; i += 2) {
    state = permute(state[0] + itemAt(items, i), state[1] + itemAt(items, i + 1), state[2]);
  }
  return reduce(state[0]);
}

/** Padding: a one after the last felt, then a zero if a place is left. */
function itemAt(items: readonly bigint[], index: number): bigint {
  const item = items[index];
  if (item === undefined) return index === items.length ? 1n : 0n;
  check(item);
  return item;
}

function permute(a: bigint, b: bigint, c: bigint): Triple {
  const [a1, b1, c1] = fullRounds(first, a, b, c);
  const [a2, b2, c2] = partialRounds(a1, b1, c1);
  return fullRounds(last, a2, b2, c2);
}

/** The mixing matrix (3 1 1, 1 -1 1, 1 1 -2) needs only sums. */
function fullRounds(keys: readonly Triple[], a: bigint, b: bigint, c: bigint): Triple {
  for (const [keyA, keyB, keyC] of keys) {
    const x = cube(a + keyA);
    const y = cube(b + keyB);
    const z = cube(c + keyC);
    const total = x + y + z;
    a = total + x + x;
    b = total - y - y;
    c = total - z - z - z;
  }
  return [a, b, c];
}

// With z = c³ a round is a' = 3a + b + z, b' = a - b + z, c' = a + b - 2z. With h = (a + b)/2 and e = (a - b)/2 it
// becomes h' = 2(h + e) + z, e' = 2h, c' = 2(h - z), which is cheaper.
function partialRounds(a: bigint, b: bigint, c: bigint): Triple {
  const entry = cube(c + enter);
  let h = a + a + entry;
  let e = a + b;
  c = e - entry - entry;
  for (let round = 0; round < middle.length; round++) {
    const z = cube(c + (middle[round] ?? 0n));
    c = (h - z) << 1n;
    const next = ((h + e) << 1n) + z;
    e = h << 1n;
    h = next;
    if (round % REDUCE_EVERY === 0) {
      h %= P;
      e %= P;
    }
  }
  return [h + e, h - e, c];
}

/** One reduction of the whole cube is faster than two. */
function cube(x: bigint): bigint {
  return (x * x * x) % P;
}

function reduce(x: bigint): bigint {
  const remainder = x % P;
  return remainder < 0n ? remainder + P : remainder;
}

/** A number outside the field would collide with its residue. */
function check(item: bigint): void {
  if (!isFelt(item)) throw new RangeError('Only felts can be hashed');
}

/** Partial rounds leave a and b unchanged, so their constants are carried forward: one constant per round remains. */
function schedule() {
  const keys: { first: Triple[]; partial: bigint[]; last: Triple[] } = { first: [], partial: [], last: [] };
  let carried: Triple = [0n, 0n, 0n];
  for (const [round, [a = 0n, b = 0n, c = 0n]] of poseidonSmall.roundConstants.entries()) {
    const key = [reduce(a + carried[0]), reduce(b + carried[1]), reduce(c + carried[2])] as const;
    const partial = round >= FULL_ROUNDS && round < ROUNDS - FULL_ROUNDS;
    carried = partial ? [3n * key[0] + key[1], key[0] - key[1], key[0] + key[1]] : [0n, 0n, 0n];
    if (partial) keys.partial.push(key[2]);
    else (round < FULL_ROUNDS ? keys.first : keys.last).push(key);
  }
  return keys;
}
