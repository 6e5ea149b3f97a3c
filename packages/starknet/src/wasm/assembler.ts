/** Code of a WebAssembly function, as its bytes. Operands stand before their operation, as on its stack. */
export type Code = readonly number[];

export interface WasmFunction {
  /** Addresses, i32. */
  readonly parameters: number;
  /** Further variables, numbered after the parameters: i32 first, then i64. */
  readonly pointers: number;
  readonly variables: number;
  readonly code: Code;
}

const I32 = 0x7f;
const I64 = 0x7e;
const FUNCTION = 0x60;
const MAGIC = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
const SECTION = { types: 1, functions: 3, memories: 5, exports: 7, codes: 10 } as const;
const EXPORT = { function: 0x00, memory: 0x02 } as const;
const END = 0x0b;

export const get = (variable: number): Code => [0x20, ...unsigned(variable)];
export const set = (variable: number): Code => [0x21, ...unsigned(variable)];
export const call = (index: number, ...operands: Code[]): Code => [...operands.flat(), 0x10, ...unsigned(index)];
export const i32 = (value: number): Code => [0x41, ...signed(BigInt(value))];
export const i64 = (value: bigint): Code => [0x42, ...signed(value)];

const binary =
  (operation: number) =>
  (left: Code, right: Code): Code => [...left, ...right, operation];
export const addAddress = binary(0x6a);
export const add = binary(0x7c);
export const subtract = binary(0x7d);
export const multiply = binary(0x7e);
export const and = binary(0x83);
export const or = binary(0x84);
export const shiftLeft = (value: Code, bits: number): Code => [...value, ...i64(BigInt(bits)), 0x86];
/** Keeps the sign. */
export const shiftRight = (value: Code, bits: number): Code => [...value, ...i64(BigInt(bits)), 0x87];
export const shiftRightUnsigned = (value: Code, bits: number): Code => [...value, ...i64(BigInt(bits)), 0x88];

/** 32 bits with their sign as i64, and 64 bits, `offset` bytes behind an address. */
export const load32 = (address: Code, offset: number): Code => [...address, 0x34, 0x02, ...unsigned(offset)];
export const store32 = (address: Code, offset: number, value: Code): Code => [
  ...[...address, ...value, 0x3e, 0x02],
  ...unsigned(offset),
];
export const load64 = (address: Code, offset: number): Code => [...address, 0x29, 0x03, ...unsigned(offset)];
export const store64 = (address: Code, offset: number, value: Code): Code => [
  ...[...address, ...value, 0x37, 0x03],
  ...unsigned(offset),
];

/** Runs `body`, which sees the i32 variable `pointer` go from `start` to `end` in steps. */
export function repeat(pointer: number, start: number, end: number, step: number, body: Code): Code {
  const advance = [...addAddress(get(pointer), i32(step)), 0x22, ...unsigned(pointer)];
  return [
    ...[...i32(start), ...set(pointer)],
    ...[0x03, 0x40, ...body, ...advance, ...i32(end), 0x49, 0x0d, 0x00, END],
  ];
}

/** A module with one memory, and its functions under their names. A call names a function by its place. */
export function assemble(pages: number, functions: Readonly<Record<string, WasmFunction>>): Uint8Array<ArrayBuffer> {
  const all = Object.entries(functions);
  const types = all.map(([, { parameters }]) => [FUNCTION, ...vector(Array(parameters).fill([I32])), 0x00]);
  const names = all.map(([name], index) => [...text(name), EXPORT.function, ...unsigned(index)]);
  const codes = all.map(([, { pointers, variables, code }]) => {
    const locals = [
      [...unsigned(pointers), I32],
      [...unsigned(variables), I64],
    ];
    return sized([...vector(locals), ...code, END]);
  });
  return new Uint8Array([
    ...MAGIC,
    ...section(SECTION.types, vector(types)),
    ...section(SECTION.functions, vector(all.map((_, index) => unsigned(index)))),
    ...section(SECTION.memories, vector([[0x00, ...unsigned(pages)]])),
    ...section(SECTION.exports, vector([[...text('memory'), EXPORT.memory, 0x00], ...names])),
    ...section(SECTION.codes, vector(codes)),
  ]);
}

const section = (id: number, content: Code): Code => [id, ...sized(content)];
const sized = (content: Code): Code => [...unsigned(content.length), ...content];
const vector = (items: readonly Code[]): Code => [...unsigned(items.length), ...items.flat()];
const text = (value: string): Code => sized([...new TextEncoder().encode(value)]);

/** LEB128: seven bits a byte, the lowest first. */
function unsigned(value: number): Code {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

function signed(value: bigint): Code {
  const byte = Number(BigInt.asUintN(7, value));
  const rest = value >> 7n;
  const isLast = rest === (byte & 0x40 ? -1n : 0n);
  return isLast ? [byte] : [byte | 0x80, ...signed(rest)];
}
