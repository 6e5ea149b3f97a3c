import { PRIME } from '../felt.ts';
import * as wasm from './assembler.ts';

// A felt is nine limbs of 29 bits, 32 bits apart, times 2^261 (Montgomery). The limbs are not negative but for the
// highest, whose sign is that of the number; numbers stay between -2P and 2P, and only results are reduced.
const LIMBS = 9;
const LIMB_BITS = 29;
const MASK = (1n << BigInt(LIMB_BITS)) - 1n;
export const FELT_BYTES = LIMBS * 4;
export const WORDS_BYTES = 32;
const WORD_BITS = 64;

// P = 2^251 + 17 · 2^192 + 1 has three limbs that are not zero: the lowest, 1, and these.
const MIDDLE = { limb: 6, value: 17n << 18n };
const TOP = { limb: 8, bits: 19 };

/** What a number is multiplied by to become a felt in memory: (2^261)². */
export const ENTRY = (1n << BigInt(2 * LIMBS * LIMB_BITS)) % PRIME;

const limbs = <T>(make: (limb: number) => T): T[] => Array.from({ length: LIMBS }, (_, limb) => make(limb));

export function limbsOf(value: bigint): number[] {
  return limbs((limb) => Number((value >> BigInt(limb * LIMB_BITS)) & MASK));
}

/** Variables t of a function: `t[i]` holds the sum for limb i before carries. */
interface Sums {
  readonly first: number;
}
const at = ({ first }: Sums, limb: number) => first + limb;

/** Adds carries and stores the limbs. */
function storeCarried(sums: Sums, target: wasm.Code): wasm.Code {
  return limbs((limb) => {
    const value = wasm.get(at(sums, limb));
    if (limb === LIMBS - 1) return wasm.store32(target, limb * 4, value);
    const next = at(sums, limb + 1);
    return [
      ...wasm.store32(target, limb * 4, wasm.and(value, wasm.i64(MASK))),
      ...[...wasm.add(wasm.get(next), wasm.shiftRight(value, LIMB_BITS)), ...wasm.set(next)],
    ];
  }).flat();
}

/** (target, left, right): target = left · right / 2^261. */
export function multiplication(isSquare: boolean): wasm.WasmFunction {
  const parameters = isSquare ? 2 : 3;
  const left = parameters;
  const right = isSquare ? left : left + LIMBS;
  const product = { first: right + LIMBS };
  const inputs = isSquare ? [left] : [left, right];
  const loads = inputs.flatMap((variable, input) =>
    limbs((limb) => [...wasm.load32(wasm.get(input + 1), limb * 4), ...wasm.set(variable + limb)]).flat(),
  );
  const columns = Array.from({ length: 2 * LIMBS }, (_, column) => {
    const term = (i: number) => wasm.multiply(wasm.get(left + i), wasm.get(right + column - i));
    const places = limbs((i) => i).filter((i) => column - i >= 0 && column - i < LIMBS);
    const sum = isSquare
      ? squareColumn(column, places, term)
      : places.map(term).reduce<wasm.Code>((all, one) => (all.length ? wasm.add(all, one) : one), []);
    return [...(sum.length ? sum : wasm.i64(0n)), ...wasm.set(at(product, column))];
  }).flat();
  return {
    parameters,
    pointers: 0,
    variables: product.first + 2 * LIMBS + 1 - parameters,
    code: [
      ...loads,
      ...columns,
      ...reduction(product, product.first + 2 * LIMBS),
      ...storeCarried({ first: at(product, LIMBS) }, wasm.get(0)),
    ],
  };
}

/** Products of two different limbs stand twice in a square. */
function squareColumn(column: number, places: readonly number[], term: (i: number) => wasm.Code): wasm.Code {
  const pairs = places.filter((i) => 2 * i < column).map(term);
  const twice = pairs.length
    ? wasm.shiftLeft(
        pairs.reduce((all, one) => wasm.add(all, one)),
        1,
      )
    : [];
  if (column % 2 === 1) return twice;
  const middle = places.includes(column / 2) ? term(column / 2) : [];
  return twice.length && middle.length ? wasm.add(twice, middle) : [...twice, ...middle];
}

/** Montgomery: adds the multiple of P that makes a limb zero, from the lowest on. -1/P is -1 for every limb. */
function reduction(product: Sums, factor: number): wasm.Code {
  const increase = (limb: number, by: wasm.Code) => [
    ...wasm.add(wasm.get(at(product, limb)), by),
    ...wasm.set(at(product, limb)),
  ];
  return limbs((i) => {
    const lowest = wasm.get(at(product, i));
    return [
      ...[...wasm.and(wasm.subtract(wasm.i64(0n), lowest), wasm.i64(MASK)), ...wasm.set(factor)],
      ...increase(i + 1, wasm.shiftRight(wasm.add(lowest, wasm.get(factor)), LIMB_BITS)),
      ...increase(i + MIDDLE.limb, wasm.multiply(wasm.get(factor), wasm.i64(MIDDLE.value))),
      ...increase(i + TOP.limb, wasm.shiftLeft(wasm.get(factor), TOP.bits)),
    ];
  }).flat();
}

export type Term = readonly [factor: number, felt: wasm.Code];

/** target = the sum of the terms, less about as many P as are in it. Uses the ten i64 variables from `first` on. */
export function linear(first: number, target: wasm.Code, terms: readonly Term[]): wasm.Code {
  const sums = { first };
  const excess = first + LIMBS;
  const decrease = (limb: number, by: wasm.Code) => [
    ...wasm.subtract(wasm.get(at(sums, limb)), by),
    ...wasm.set(at(sums, limb)),
  ];
  return [
    ...limbs((limb) => [...sumOf(terms, limb), ...wasm.set(at(sums, limb))]).flat(),
    ...[...wasm.shiftRight(wasm.get(at(sums, TOP.limb)), TOP.bits), ...wasm.set(excess)],
    ...decrease(0, wasm.get(excess)),
    ...decrease(MIDDLE.limb, wasm.multiply(wasm.get(excess), wasm.i64(MIDDLE.value))),
    ...decrease(TOP.limb, wasm.shiftLeft(wasm.get(excess), TOP.bits)),
    ...storeCarried(sums, target),
  ];
}
export const LINEAR_VARIABLES = LIMBS + 1;

function sumOf(terms: readonly Term[], limb: number): wasm.Code {
  return terms
    .map(([factor, felt]) => {
      const value = wasm.load32(felt, limb * 4);
      return factor === 1 ? value : wasm.multiply(value, wasm.i64(BigInt(factor)));
    })
    .reduce((all, one) => wasm.add(all, one));
}

/** (felt, words): cuts 256 bits at `words` into limbs. */
export const unpack: wasm.WasmFunction = {
  parameters: 2,
  pointers: 0,
  variables: 0,
  code: limbs((limb) => {
    const bit = limb * LIMB_BITS;
    const word = Math.floor(bit / WORD_BITS);
    const shift = bit % WORD_BITS;
    const low = wasm.shiftRightUnsigned(wasm.load64(wasm.get(1), word * 8), shift);
    const crosses = shift + LIMB_BITS > WORD_BITS && word < 3;
    const both = crosses
      ? wasm.or(low, wasm.shiftLeft(wasm.load64(wasm.get(1), word * 8 + 8), WORD_BITS - shift))
      : low;
    return wasm.store32(wasm.get(0), limb * 4, wasm.and(both, wasm.i64(MASK)));
  }).flat(),
};

/** (words, felt): the felt plus 4P, which is not negative, as 256 bits. */
export const pack: wasm.WasmFunction = packing();

function packing(): wasm.WasmFunction {
  const first = 2;
  const quadruple = limbsOf(4n * PRIME);
  const carried = limbs((limb) => {
    const value = wasm.add(wasm.load32(wasm.get(1), limb * 4), wasm.i64(BigInt(quadruple[limb] ?? 0)));
    const whole = limb === 0 ? value : wasm.add(value, wasm.shiftRight(wasm.get(first + limb - 1), LIMB_BITS));
    return [...whole, ...wasm.set(first + limb)];
  }).flat();
  const words = Array.from({ length: 4 }, (_, word) => {
    const pieces = limbs((limb) => ({ limb, bit: limb * LIMB_BITS - word * WORD_BITS }))
      .filter(({ bit }) => bit > -LIMB_BITS && bit < WORD_BITS)
      .map(({ limb, bit }) => {
        const value = wasm.and(wasm.get(first + limb), wasm.i64(MASK));
        return bit < 0 ? wasm.shiftRightUnsigned(value, -bit) : wasm.shiftLeft(value, bit);
      });
    return wasm.store64(
      wasm.get(0),
      word * 8,
      pieces.reduce((all, one) => wasm.or(all, one)),
    );
  }).flat();
  return { parameters: 2, pointers: 0, variables: LIMBS, code: [...carried, ...words] };
}
