import { PRIME } from '../felt.ts';
import * as wasm from './assembler.ts';
import {
  ENTRY,
  FELT_BYTES,
  LINEAR_VARIABLES,
  limbsOf,
  linear,
  multiplication,
  pack,
  type Term,
  unpack,
} from './field.ts';

export interface RoundKeys {
  readonly first: readonly (readonly bigint[])[];
  readonly partial: readonly bigint[];
  readonly last: readonly (readonly bigint[])[];
}

/** Where things are in the memory. Two numbers of 256 bits go in at its start, and one comes out. */
const INPUT_BYTES = 32;
const felt = (place: number) => 2 * INPUT_BYTES + place * FELT_BYTES;
const CONSTANT = { entry: felt(0), one: felt(1), unit: felt(2) } as const;
/** The state of Poseidon. */
export const STATE = { a: felt(3), b: felt(4), c: felt(5) } as const;
/** A point as X, Y, ZZ and ZZZ, as in `curve.ts`. */
export const SUM = { x: felt(6), y: felt(7), zz: felt(8), zzz: felt(9) } as const;
const [T0, T1, T2, T3, T4, T5] = [felt(10), felt(11), felt(12), felt(13), felt(14), felt(15)] as const;
const ROUND_KEYS = felt(16);
const MAX_ROUND_KEYS = 128;
/** From here on the memory belongs to the caller. */
export const FREE = felt(16 + MAX_ROUND_KEYS);
export const POINT_BYTES = 2 * FELT_BYTES;
const PAGES = 32;

/** All arguments are addresses. */
interface Functions {
  multiply(target: number, left: number, right: number): void;
  square(target: number, value: number): void;
  /** Cuts 256 bits into the limbs of a felt. */
  unpack(felt: number, words: number): void;
  /** A felt plus 4P as 256 bits. */
  pack(words: number, felt: number): void;
  /** Makes the number at `words` a felt. */
  enter(felt: number, words: number): void;
  /** Writes a felt to the start of the memory. */
  leave(felt: number): void;
  permute(): void;
  /** Adds both inputs to the state and permutes it. */
  absorb(): void;
  /** Makes the sum this point (x and y). */
  begin(point: number): void;
  /** The point must be neither the sum nor its opposite. */
  add(point: number): void;
  double(alpha: number): void;
}

const ORDER: readonly (keyof Functions)[] = [
  ...(['multiply', 'square', 'unpack', 'pack', 'enter', 'leave'] as const),
  ...(['permute', 'absorb', 'begin', 'add', 'double'] as const),
];

export interface Machine extends Functions {
  readonly bytes: Uint8Array;
  input(place: 0 | 1, value: bigint): void;
  put(felt: number, value: bigint): void;
  take(felt: number): bigint;
}

/** What the packages need of WebAssembly, whose types are those of browsers. */
const { WebAssembly } = globalThis as unknown as {
  readonly WebAssembly: {
    readonly Module: new (code: Uint8Array<ArrayBuffer>) => object;
    readonly Instance: new (module: object) => { readonly exports: unknown };
  };
};

export function createMachine(keys: RoundKeys): Machine {
  const instance = new WebAssembly.Instance(new WebAssembly.Module(assembled(keys)));
  const { memory, ...functions } = instance.exports as Functions & { memory: { buffer: ArrayBuffer } };
  const words = new BigUint64Array(memory.buffer, 0, (2 * INPUT_BYTES) / 8);
  const limbs = new Int32Array(memory.buffer);
  const input = (place: 0 | 1, value: bigint) => {
    for (let word = 0; word < 4; word++) words[place * 4 + word] = value >> BigInt(64 * word);
  };
  const put = (address: number, value: bigint) => {
    input(0, value);
    functions.enter(address, 0);
  };
  const take = (address: number) => {
    functions.leave(address);
    const [w0 = 0n, w1 = 0n, w2 = 0n, w3 = 0n] = words;
    return ((w3 << 192n) | (w2 << 128n) | (w1 << 64n) | w0) % PRIME;
  };
  limbs.set(limbsOf(ENTRY), CONSTANT.entry / 4);
  limbs.set(limbsOf(1n), CONSTANT.one / 4);
  put(CONSTANT.unit, 1n);
  const inOrder = [...keys.first.flat(), ...keys.partial, ...keys.last.flat()];
  for (const [place, key] of inOrder.entries()) put(ROUND_KEYS + place * FELT_BYTES, key);
  return { ...functions, bytes: new Uint8Array(memory.buffer), input, put, take };
}

type Address = number | wasm.Code;
const code = (address: Address): wasm.Code => (typeof address === 'number' ? wasm.i32(address) : address);
const invoke = (name: keyof Functions, ...addresses: Address[]) =>
  wasm.call(ORDER.indexOf(name), ...addresses.map(code));
const behind = (address: wasm.Code, bytes: number) => wasm.addAddress(address, wasm.i32(bytes));

function assembled(keys: RoundKeys) {
  const functions: Record<keyof Functions, wasm.WasmFunction> = {
    multiply: multiplication(false),
    square: multiplication(true),
    unpack,
    pack,
    enter: steps(2, () => [
      ...invoke('unpack', wasm.get(0), wasm.get(1)),
      ...invoke('multiply', wasm.get(0), wasm.get(0), CONSTANT.entry),
    ]),
    leave: steps(1, () => [...invoke('multiply', T0, wasm.get(0), CONSTANT.one), ...invoke('pack', 0, T0)]),
    permute: permutation(keys),
    absorb: steps(0, (sum) => [
      ...[...invoke('enter', T0, 0), ...sum(STATE.a, [1, STATE.a], [1, T0])],
      ...[...invoke('enter', T0, INPUT_BYTES), ...sum(STATE.b, [1, STATE.b], [1, T0])],
      ...invoke('permute'),
    ]),
    begin: steps(1, (sum) => [
      ...sum(SUM.x, [1, wasm.get(0)]),
      ...sum(SUM.y, [1, behind(wasm.get(0), FELT_BYTES)]),
      ...[...sum(SUM.zz, [1, CONSTANT.unit]), ...sum(SUM.zzz, [1, CONSTANT.unit])],
    ]),
    add: steps(1, addition),
    double: steps(1, doubling),
  };
  return wasm.assemble(PAGES, Object.fromEntries(ORDER.map((name) => [name, functions[name]])));
}

type Summand = readonly [factor: number, felt: Address];
/** target = the sum of the summands. */
type Summing = (target: number, ...summands: Summand[]) => wasm.Code;

function steps(parameters: number, body: (sum: Summing, pointer: number) => wasm.Code): wasm.WasmFunction {
  const pointer = parameters;
  const sum: Summing = (target, ...summands) => {
    const terms = summands.map(([factor, address]): Term => [factor, code(address)]);
    return linear(pointer + 1, wasm.i32(target), terms);
  };
  return { parameters, pointers: 1, variables: LINEAR_VARIABLES, code: body(sum, pointer) };
}

/** As `permute` in `poseidon.ts`. */
function permutation({ first, partial, last }: RoundKeys): wasm.WasmFunction {
  const { a, b, c } = STATE;
  const [h, e, z, next, square] = [T0, T1, T2, T3, T4];
  return steps(0, (sum, pointer) => {
    const cube = (target: number) => [
      ...invoke('square', square, target),
      ...invoke('multiply', target, square, target),
    ];
    const keyed = (target: number, from: number, key: wasm.Code) => [
      ...sum(target, [1, from], [1, key]),
      ...cube(target),
    ];
    const key = wasm.get(pointer);
    const rounds = (from: number, count: number, width: number, body: wasm.Code) => {
      const start = ROUND_KEYS + from * FELT_BYTES;
      return wasm.repeat(pointer, start, start + count * width * FELT_BYTES, width * FELT_BYTES, body);
    };
    const full = [
      ...keyed(a, a, key),
      ...keyed(b, b, behind(key, FELT_BYTES)),
      ...keyed(c, c, behind(key, 2 * FELT_BYTES)),
      ...[...sum(h, [3, a], [1, b], [1, c]), ...sum(e, [1, a], [-1, b], [1, c]), ...sum(c, [1, a], [1, b], [-2, c])],
      ...[...sum(a, [1, h]), ...sum(b, [1, e])],
    ];
    const middle = [
      ...keyed(z, c, key),
      ...[...sum(c, [2, h], [-2, z]), ...sum(next, [2, h], [2, e], [1, z]), ...sum(e, [2, h]), ...sum(h, [1, next])],
    ];
    const afterFirst = first.length * 3;
    const afterPartial = afterFirst + partial.length;
    return [
      ...rounds(0, first.length, 3, full),
      ...keyed(z, c, wasm.i32(ROUND_KEYS + afterFirst * FELT_BYTES)),
      ...[...sum(h, [2, a], [1, z]), ...sum(e, [1, a], [1, b]), ...sum(c, [1, e], [-2, z])],
      ...rounds(afterFirst + 1, partial.length - 1, 1, middle),
      ...[...sum(a, [1, h], [1, e]), ...sum(b, [1, h], [-1, e])],
      ...rounds(afterPartial, last.length, 3, full),
    ];
  });
}

/** As `add` in `curve.ts`. */
function addition(sum: Summing): wasm.Code {
  const { x, y, zz, zzz } = SUM;
  const [p, r, pp, ppp, q, t] = [T0, T1, T2, T3, T4, T5];
  return [
    ...[...invoke('multiply', p, zz, wasm.get(0)), ...sum(p, [1, p], [-1, x])],
    ...[...invoke('multiply', r, zzz, behind(wasm.get(0), FELT_BYTES)), ...sum(r, [1, r], [-1, y])],
    ...[...invoke('square', pp, p), ...invoke('multiply', ppp, p, pp), ...invoke('multiply', q, x, pp)],
    ...[...invoke('square', t, r), ...sum(x, [1, t], [-1, ppp], [-2, q])],
    ...[...sum(q, [1, q], [-1, x]), ...invoke('multiply', q, q, r), ...invoke('multiply', y, y, ppp)],
    ...sum(y, [1, q], [-1, y]),
    ...[...invoke('multiply', zz, zz, pp), ...invoke('multiply', zzz, zzz, ppp)],
  ];
}

/** As `double` in `curve.ts`. */
function doubling(sum: Summing): wasm.Code {
  const { x, y, zz, zzz } = SUM;
  const [u, v, w, s, slope, t] = [T0, T1, T2, T3, T4, T5];
  return [
    ...[...sum(u, [2, y]), ...invoke('square', v, u), ...invoke('multiply', w, u, v), ...invoke('multiply', s, x, v)],
    ...[...invoke('square', t, zz), ...invoke('multiply', t, t, wasm.get(0)), ...invoke('square', slope, x)],
    ...[...sum(slope, [3, slope], [1, t]), ...invoke('square', t, slope), ...sum(x, [1, t], [-2, s])],
    ...[...sum(s, [1, s], [-1, x]), ...invoke('multiply', s, s, slope), ...invoke('multiply', y, y, w)],
    ...sum(y, [1, s], [-1, y]),
    ...[...invoke('multiply', zz, zz, v), ...invoke('multiply', zzz, zzz, w)],
  ];
}
