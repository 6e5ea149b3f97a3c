import { columnsOf, SPACING, TEETH } from '../curve/comb.ts';
import { type Affine, GENERATOR } from '../curve/curve.ts';
import { invert, invertAll } from '../curve/modular.ts';
import { type ScaledKey, scaledKey } from '../curve/public-key.ts';
import { type Engine, type Fraction, useEngine } from '../engine.ts';
import { PRIME as P } from '../felt.ts';
import { memoize } from '../memoize.ts';
import { BASES, SHIFT } from '../pedersen.ts';
import { ROUND_KEYS } from '../poseidon.ts';
import { FELT_BYTES } from './field.ts';
import { createMachine, FREE, POINT_BYTES, STATE, SUM } from './machine.ts';

/** A scalar's bytes choose one point of each row; 252 bits have 31 whole bytes and half of one. */
const ROWS = 31;
const ROW_POINTS = 255;
const LAST_ROW_POINTS = 15;
const TABLE_BYTES = (ROWS * ROW_POINTS + LAST_ROW_POINTS) * POINT_BYTES;
const COMB_POINTS = 2 ** TEETH - 1;
const SUM_BYTES = 4 * FELT_BYTES;
/** A row and the point that the next one begins with. */
const MAX_SUMS = ROW_POINTS + 1;
/** About 5 kB for each key. */
const MAX_KEYS = 1_000;

interface Key {
  readonly scale: bigint;
  /** The points of its comb, then alpha. */
  readonly comb: Uint8Array;
}

const PLACE = places();

function places() {
  let free = FREE;
  const take = (bytes: number) => {
    free += bytes;
    return free - bytes;
  };
  return {
    point: take(POINT_BYTES),
    comb: take(COMB_POINTS * POINT_BYTES),
    alpha: take(FELT_BYTES),
    inverse: take(FELT_BYTES),
    scratch: take(FELT_BYTES),
    sums: take(MAX_SUMS * SUM_BYTES),
    products: take(MAX_SUMS * FELT_BYTES),
    affine: take(MAX_SUMS * POINT_BYTES),
    left: take(TABLE_BYTES),
    right: take(TABLE_BYTES),
    generator: take(TABLE_BYTES),
  };
}

/** Makes all hashing and checking of this thread faster. Answers false where a runtime has no WebAssembly. */
export function useWebAssembly(): boolean {
  if (!('WebAssembly' in globalThis)) return false;
  useEngine(createEngine());
  return true;
}

/** Hashes and multiples of points by WebAssembly, several times as fast. Tables are built on first use. */
export function createEngine(): Engine {
  const machine = createMachine(ROUND_KEYS);
  const tables = new Set<number>();
  const keys = memoize(MAX_KEYS, prepareKey);

  return {
    poseidon(a, b, c) {
      machine.put(STATE.a, a);
      machine.put(STATE.b, b);
      machine.put(STATE.c, c);
      machine.permute();
      return machine.take(STATE.a);
    },
    poseidonMany(items) {
      for (const felt of Object.values(STATE)) machine.put(felt, 0n);
      for (let i = 0; i < items.length; i += 2) {
        machine.input(0, items[i] ?? 0n);
        machine.input(1, items[i + 1] ?? 0n);
        machine.absorb();
      }
      return machine.take(STATE.a);
    },
    pedersenEach(a, others) {
      prepareTable(PLACE.left, BASES.left.low, BASES.left.high);
      prepareTable(PLACE.right, BASES.right.low, BASES.right.high);
      putPoint(PLACE.point, SHIFT);
      machine.begin(PLACE.point);
      addMultiple(PLACE.left, a);
      keepSum(0);
      const sums = others.map((other) => {
        machine.bytes.copyWithin(SUM.x, sumAt(0), sumAt(1));
        addMultiple(PLACE.right, other);
        return { x: machine.take(SUM.x), zz: machine.take(SUM.zz) };
      });
      const inverses = invertAll(
        sums.map(({ zz }) => zz),
        P,
      );
      return sums.map(({ x }, index) => (x * (inverses[index] ?? 0n)) % P);
    },
    generatorMultiple(scalar) {
      prepareTable(PLACE.generator, GENERATOR);
      return addMultiple(PLACE.generator, scalar, true) ? sumX(1n) : undefined;
    },
    keyMultiple(publicKey, scalar) {
      const key = keys(publicKey);
      if (!key) return undefined;
      machine.bytes.set(key.comb, PLACE.comb);
      let begun = false;
      for (const column of columnsOf(scalar).reverse()) {
        if (begun) machine.double(PLACE.alpha);
        if (column > 0) begun = addOrBegin(PLACE.comb + (column - 1) * POINT_BYTES, begun);
      }
      return sumX(key.scale);
    },
  };

  function sumX(scale: bigint): Fraction {
    return { over: machine.take(SUM.x), under: (machine.take(SUM.zz) * scale) % P };
  }

  function addOrBegin(point: number, begun: boolean): true {
    if (begun) machine.add(point);
    else machine.begin(point);
    return true;
  }

  /** Answers whether there is a sum: a multiple by zero begins none. */
  function addMultiple(table: number, scalar: bigint, fromNothing = false): boolean {
    machine.input(0, scalar);
    let begun = !fromNothing;
    for (let row = 0; row <= ROWS; row++) {
      const digit = machine.bytes[row] ?? 0;
      if (digit > 0) begun = addOrBegin(table + (row * ROW_POINTS + digit - 1) * POINT_BYTES, begun);
    }
    return begun;
  }

  function putPoint(place: number, { x, y }: Affine): void {
    machine.put(place, x);
    machine.put(place + FELT_BYTES, y);
  }

  function prepareTable(table: number, base: Affine, last?: Affine): void {
    if (tables.has(table)) return;
    machine.put(PLACE.alpha, 1n);
    putPoint(PLACE.point, base);
    for (let row = 0; row <= ROWS; row++) {
      if (row === ROWS && last) putPoint(PLACE.point, last);
      const points = row === ROWS ? LAST_ROW_POINTS : ROW_POINTS;
      machine.begin(PLACE.point);
      keepSum(0);
      for (let factor = 2; factor <= points + 1; factor++) {
        if (factor === 2) machine.double(PLACE.alpha);
        else machine.add(PLACE.point);
        keepSum(factor - 1);
      }
      toAffine(points + 1);
      const end = PLACE.affine + points * POINT_BYTES;
      machine.bytes.copyWithin(table + row * ROW_POINTS * POINT_BYTES, PLACE.affine, end);
      machine.bytes.copyWithin(PLACE.point, end, end + POINT_BYTES);
    }
    tables.add(table);
  }

  /** As `buildComb`. */
  function prepareKey(x: bigint): Key | undefined {
    const key = scaledKey(x);
    if (!isSquare(key.scale)) return undefined;
    placeTeeth(key);
    toAffine(TEETH);
    const teeth = machine.bytes.slice(PLACE.affine, PLACE.affine + TEETH * POINT_BYTES);
    let known = 0;
    for (let tooth = 0; tooth < TEETH; tooth++) {
      machine.bytes.set(teeth.subarray(tooth * POINT_BYTES, (tooth + 1) * POINT_BYTES), PLACE.point);
      machine.begin(PLACE.point);
      const lower = known;
      keepSum(known++);
      for (let m = 0; m < lower; m++) {
        machine.bytes.copyWithin(SUM.x, sumAt(m), sumAt(m + 1));
        machine.add(PLACE.point);
        keepSum(known++);
      }
    }
    toAffine(known);
    machine.bytes.copyWithin(PLACE.comb, PLACE.affine, PLACE.affine + known * POINT_BYTES);
    return { scale: key.scale, comb: machine.bytes.slice(PLACE.comb, PLACE.alpha + FELT_BYTES) };
  }

  function placeTeeth({ base, alpha }: ScaledKey): void {
    machine.put(PLACE.alpha, alpha);
    putPoint(PLACE.point, base);
    machine.begin(PLACE.point);
    keepSum(0);
    for (let tooth = 1; tooth < TEETH; tooth++) {
      for (let i = 0; i < SPACING; i++) machine.double(PLACE.alpha);
      keepSum(tooth);
    }
  }

  /** Euler's criterion, as in `public-key.ts`. */
  function isSquare(value: bigint): boolean {
    machine.put(PLACE.scratch, value);
    machine.put(PLACE.inverse, value);
    const squareTimes = (count: number) => {
      for (let i = 0; i < count; i++) machine.square(PLACE.scratch, PLACE.scratch);
    };
    squareTimes(55);
    machine.multiply(PLACE.scratch, PLACE.scratch, PLACE.inverse);
    squareTimes(4);
    machine.multiply(PLACE.scratch, PLACE.scratch, PLACE.inverse);
    squareTimes(191);
    return machine.take(PLACE.scratch) === 1n;
  }

  function sumAt(index: number): number {
    return PLACE.sums + index * SUM_BYTES;
  }

  function keepSum(index: number): void {
    machine.bytes.copyWithin(sumAt(index), SUM.x, SUM.x + SUM_BYTES);
  }

  /** The kept sums as points, with one inversion for all, as `toAffine` of `curve.ts`. */
  function toAffine(count: number): void {
    const zzz = (index: number) => sumAt(index) + 3 * FELT_BYTES;
    const product = (index: number) => PLACE.products + index * FELT_BYTES;
    machine.put(product(0), 1n);
    for (let i = 0; i + 1 < count; i++) machine.multiply(product(i + 1), product(i), zzz(i));
    machine.multiply(PLACE.inverse, product(count - 1), zzz(count - 1));
    machine.put(PLACE.inverse, invert(machine.take(PLACE.inverse), P));
    for (let i = count - 1; i >= 0; i--) {
      const [target, sum] = [PLACE.affine + i * POINT_BYTES, sumAt(i)];
      machine.multiply(PLACE.scratch, PLACE.inverse, product(i));
      machine.multiply(PLACE.inverse, PLACE.inverse, zzz(i));
      machine.multiply(target + FELT_BYTES, sum + FELT_BYTES, PLACE.scratch);
      machine.multiply(PLACE.scratch, PLACE.scratch, sum + 2 * FELT_BYTES);
      machine.square(PLACE.scratch, PLACE.scratch);
      machine.multiply(target, sum, PLACE.scratch);
    }
  }
}
