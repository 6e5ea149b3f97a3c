/** A class as `/sandbox/explorer/api/contracts` describes it. */
export interface ClassDescription {
  readonly classHash: string;
  readonly name: string;
  readonly functions: readonly AbiFunction[];
  readonly events: readonly AbiEvent[];
  readonly structs: Readonly<Record<string, readonly Member[]>>;
  readonly enums: Readonly<Record<string, readonly Member[]>>;
}

export interface Member {
  readonly name: string;
  readonly type: string;
}

export interface AbiFunction {
  readonly name: string;
  readonly selector: string;
  readonly isView: boolean;
  readonly inputs: readonly Member[];
  readonly outputs: readonly string[];
}

export interface AbiEvent {
  readonly name: string;
  readonly selector: string;
  readonly members: readonly (Member & { readonly kind: 'key' | 'data' })[];
}

/** Calls inside calldata, as accounts take them. */
export interface RawCall {
  readonly to: bigint;
  readonly selector: bigint;
  readonly calldata: readonly bigint[];
}

export type Value =
  | { readonly kind: 'felt' | 'number' | 'address' | 'class'; readonly value: bigint }
  | { readonly kind: 'bool'; readonly value: boolean }
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'call'; readonly value: RawCall }
  | { readonly kind: 'list'; readonly items: readonly Value[] }
  | { readonly kind: 'fields'; readonly fields: readonly Field[] }
  | { readonly kind: 'variant'; readonly name: string; readonly value: Value | undefined };

export interface Field {
  readonly name: string;
  readonly value: Value;
}

/** The felts are not of this type. */
class Misfit extends Error {}

class Felts {
  readonly #felts: readonly bigint[];
  #position = 0;

  constructor(felts: readonly bigint[]) {
    this.#felts = felts;
  }

  next(): bigint {
    const felt = this.#felts[this.#position];
    if (felt === undefined) throw new Misfit();
    this.#position += 1;
    return felt;
  }

  /** Bounded by what is left, so that an announced length cannot cause a long loop. */
  list<T>(read: () => T): T[] {
    const length = this.next();
    if (length > BigInt(this.left)) throw new Misfit();
    return Array.from({ length: Number(length) }, read);
  }

  get left(): number {
    return this.#felts.length - this.#position;
  }
}

type Types = Pick<ClassDescription, 'structs' | 'enums'>;

/** By name and in order; undefined where the felts do not fit exactly. */
export function decodeMembers(members: readonly Member[], felts: readonly bigint[], types: Types): Field[] | undefined {
  const reader = new Felts(felts);
  try {
    const fields = members.map(({ name, type }) => ({ name, value: read(type, reader, types, 0) }));
    return reader.left === 0 ? fields : undefined;
  } catch (error) {
    if (error instanceof Misfit) return undefined;
    throw error;
  }
}

/** Types of a declared class may refer to each other in circles. */
const MAX_DEPTH = 16;
const BITS: Readonly<Record<string, bigint>> = { u8: 8n, u16: 16n, u32: 32n, u64: 64n, u128: 128n, usize: 32n };

function read(type: string, felts: Felts, types: Types, depth: number): Value {
  if (depth > MAX_DEPTH) throw new Misfit();
  const plain = type.replace(/^@/, '');
  const list = /^core::array::(?:Array|Span)::<(.*)>$/.exec(plain);
  if (list) return { kind: 'list', items: felts.list(() => read(list[1] ?? '', felts, types, depth + 1)) };
  if (plain.startsWith('(')) {
    const parts = splitTuple(plain).map((part, index) => ({ name: String(index), type: part }));
    return readFields(parts, felts, types, depth);
  }
  const name = plain.split('::').at(-1) ?? '';
  const bits = BITS[name];
  if (bits !== undefined) return { kind: 'number', value: bounded(felts.next(), bits) };
  switch (name) {
    case 'felt252':
      return { kind: 'felt', value: felts.next() };
    case 'u256':
      return { kind: 'number', value: bounded(felts.next(), 128n) | (bounded(felts.next(), 128n) << 128n) };
    case 'bool':
      return { kind: 'bool', value: bounded(felts.next(), 1n) === 1n };
    case 'ContractAddress':
      return { kind: 'address', value: felts.next() };
    case 'ClassHash':
      return { kind: 'class', value: felts.next() };
    case 'ByteArray':
      return { kind: 'text', value: readByteArray(felts) };
  }
  if (plain === 'core::starknet::account::Call') return { kind: 'call', value: readCall(felts) };
  return readNamed(plain, felts, types, depth);
}

function readNamed(type: string, felts: Felts, { structs, enums }: Types, depth: number): Value {
  const members = Object.hasOwn(structs, type) ? structs[type] : undefined;
  if (members) return readFields(members, felts, { structs, enums }, depth);
  const variants = Object.hasOwn(enums, type) ? enums[type] : undefined;
  const variant = variants?.[Number(felts.next())];
  if (!variant) throw new Misfit();
  const value = variant.type === '()' ? undefined : read(variant.type, felts, { structs, enums }, depth + 1);
  return { kind: 'variant', name: variant.name, value };
}

function readFields(members: readonly Member[], felts: Felts, types: Types, depth: number): Value {
  const fields = members.map(({ name, type }) => ({ name, value: read(type, felts, types, depth + 1) }));
  return { kind: 'fields', fields };
}

function readCall(felts: Felts): RawCall {
  return { to: felts.next(), selector: felts.next(), calldata: felts.list(() => felts.next()) };
}

/** Calldata of an account's own transaction: undefined where it is no list of calls. */
export function decodeCalls(calldata: readonly bigint[]): RawCall[] | undefined {
  const felts = new Felts(calldata);
  try {
    const calls = felts.list(() => readCall(felts));
    return felts.left === 0 ? calls : undefined;
  } catch (error) {
    if (error instanceof Misfit) return undefined;
    throw error;
  }
}

function bounded(value: bigint, bits: bigint): bigint {
  if (value >> bits !== 0n) throw new Misfit();
  return value;
}

/** `(a, (b, c), d)` into its parts. */
function splitTuple(type: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let part = '';
  for (const character of type.slice(1, -1)) {
    if (character === ',' && depth === 0) {
      parts.push(part.trim());
      part = '';
      continue;
    }
    if (character === '(' || character === '<') depth += 1;
    if (character === ')' || character === '>') depth -= 1;
    part += character;
  }
  return part.trim() === '' ? parts : [...parts, part.trim()];
}

const WORD_BYTES = 31;

function readByteArray(felts: Felts): string {
  const words = felts.list(() => felts.next());
  const pending = felts.next();
  const length = felts.next();
  if (length >= BigInt(WORD_BYTES)) throw new Misfit();
  const bytes = [...words.flatMap((word) => bytesOf(word, WORD_BYTES)), ...bytesOf(pending, Number(length))];
  const text = new TextDecoder().decode(Uint8Array.from(bytes));
  // Some contracts use it for bytes that are no text.
  return /^[\P{C}\n\t]*$/u.test(text) && !text.includes('\ufffd') ? text : `0x${bytes.map(hexByte).join('')}`;
}

const hexByte = (byte: number) => byte.toString(16).padStart(2, '0');

function bytesOf(value: bigint, length: number): number[] {
  const digits = value.toString(16).padStart(2 * length, '0');
  if (digits.length > 2 * length && length > 0) throw new Misfit();
  return Array.from({ length }, (_, index) => Number.parseInt(digits.slice(2 * index, 2 * index + 2), 16));
}

const MAX_SHORT_STRING = 31;

/** A felt that spells a word, as Cairo's short strings do. */
export function shortStringOf(value: bigint): string | undefined {
  const digits = value.toString(16);
  const length = Math.ceil(digits.length / 2);
  if (value === 0n || length < 3 || length > MAX_SHORT_STRING) return undefined;
  const text = String.fromCharCode(...bytesOf(value, length));
  return /^[\x20-\x7e]+$/.test(text) ? text : undefined;
}
