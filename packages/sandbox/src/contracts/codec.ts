import { ADDRESS_BOUND, PRIME, shortString } from '@svc/starknet';

/** The felts do not fit the type; becomes Cairo's deserialization panic. */
export class Malformed extends Error {}

export type AbiEntry = Readonly<Record<string, unknown>>;

/** One Cairo type: its ABI name, and its felts in calldata, results, events and storage. */
export interface Codec<T> {
  readonly type: string;
  /** Number of felts, where it is fixed. Storage requires it. */
  readonly size?: number;
  readonly definitions: readonly AbiEntry[];
  read(reader: Reader): T;
  write(value: T): bigint[];
}

export type Value<C> = C extends Codec<infer T> ? T : never;

export class Reader {
  readonly #felts: readonly bigint[];
  #position = 0;

  constructor(felts: readonly bigint[]) {
    this.#felts = felts;
  }

  next(): bigint {
    const felt = this.#felts[this.#position];
    if (felt === undefined) throw new Malformed();
    this.#position += 1;
    return felt;
  }

  /** Bounded by the remaining felts, so an announced length cannot cause a long loop. */
  length(): number {
    const length = this.next();
    if (length > BigInt(this.left)) throw new Malformed();
    return Number(length);
  }

  peek(): bigint | undefined {
    return this.#felts[this.#position];
  }

  get left(): number {
    return this.#felts.length - this.#position;
  }
}

function bounded(type: string, limit: bigint): Codec<bigint> & { size: number } {
  return {
    type,
    size: 1,
    definitions: [],
    read(reader) {
      const value = reader.next();
      if (value >= limit) throw new Malformed();
      return value;
    },
    write: (value) => [value],
  };
}

export const felt = bounded('core::felt252', PRIME);
export const address = bounded('core::starknet::contract_address::ContractAddress', ADDRESS_BOUND);
export const classHash = bounded('core::starknet::class_hash::ClassHash', ADDRESS_BOUND);
export const u8 = bounded('core::integer::u8', 1n << 8n);
export const u32 = bounded('core::integer::u32', 1n << 32n);
export const u64 = bounded('core::integer::u64', 1n << 64n);
export const u128 = bounded('core::integer::u128', 1n << 128n);

export const U256_MAX = (1n << 256n) - 1n;
const LOW_MASK = (1n << 128n) - 1n;

export const u256: Codec<bigint> & { size: number } = {
  type: 'core::integer::u256',
  size: 2,
  definitions: [structEntry('core::integer::u256', { low: u128, high: u128 })],
  read(reader) {
    const low = u128.read(reader);
    return low | (u128.read(reader) << 128n);
  },
  write: (value) => [value & LOW_MASK, value >> 128n],
};

export const bool: Codec<boolean> & { size: number } = {
  type: 'core::bool',
  size: 1,
  definitions: [
    {
      type: 'enum',
      name: 'core::bool',
      variants: [
        { name: 'False', type: '()' },
        { name: 'True', type: '()' },
      ],
    },
  ],
  read(reader) {
    const value = reader.next();
    if (value > 1n) throw new Malformed();
    return value === 1n;
  },
  write: (value) => [value ? 1n : 0n],
};

export const byteArray: Codec<Uint8Array> = {
  type: 'core::byte_array::ByteArray',
  definitions: [
    {
      type: 'struct',
      name: 'core::byte_array::ByteArray',
      members: [
        { name: 'data', type: 'core::array::Array::<core::bytes_31::bytes31>' },
        { name: 'pending_word', type: 'core::felt252' },
        { name: 'pending_word_len', type: 'core::integer::u32' },
      ],
    },
  ],
  read(reader) {
    const words = Array.from({ length: reader.length() }, () => reader.next());
    const bytes = byteArrayBytes(words, reader.next(), reader.next());
    if (!bytes) throw new Malformed();
    return bytes;
  },
  write: byteArrayFelts,
};

function listOf<T>(of: Codec<T>): Pick<Codec<readonly T[]>, 'read' | 'write'> {
  return {
    read: (reader) => Array.from({ length: reader.length() }, () => of.read(reader)),
    write: (values) => [BigInt(values.length), ...values.flatMap((value) => of.write(value))],
  };
}

export function array<T>(of: Codec<T>): Codec<readonly T[]> {
  return { type: `core::array::Array::<${of.type}>`, definitions: of.definitions, ...listOf(of) };
}

export function span<T>(of: Codec<T>): Codec<readonly T[]> {
  const type = `core::array::Span::<${of.type}>`;
  const members = [{ name: 'snapshot', type: `@core::array::Array::<${of.type}>` }];
  const list = listOf(of);
  return {
    type,
    definitions: [...of.definitions, { type: 'struct', name: type, members }],
    ...list,
    read(reader) {
      if (of.type === felt.type) requireSlice(reader);
      return list.read(reader);
    },
  };
}

/** Cairo reads a span of felts as a slice, whose bounds check has its own panic. */
function requireSlice(reader: Reader): void {
  const length = reader.peek();
  if (length === undefined || length >= 1n << 32n) return;
  require(length < BigInt(reader.left), 'Index out of bounds');
}

export type Fields = Readonly<Record<string, Codec<unknown>>>;
export type ValuesOf<F extends Fields> = { readonly [K in keyof F]: Value<F[K]> };

export function structEntry(name: string, fields: Fields): AbiEntry {
  const members = Object.entries(fields).map(([field, codec]) => ({ name: field, type: codec.type }));
  return { type: 'struct', name, members };
}

export function readFields<F extends Fields>(fields: F, reader: Reader): ValuesOf<F> {
  const entries = Object.entries(fields).map(([name, codec]) => [name, codec.read(reader)]);
  return Object.fromEntries(entries) as ValuesOf<F>;
}

export function writeFields<F extends Fields>(fields: F, values: ValuesOf<F>): bigint[] {
  return Object.entries(fields).flatMap(([name, codec]) => codec.write(values[name]));
}

function sizeOf(codecs: readonly Codec<unknown>[]): { size?: number } {
  let size = 0;
  for (const codec of codecs) {
    if (codec.size === undefined) return {};
    size += codec.size;
  }
  return { size };
}

export function struct<F extends Fields>(name: string, fields: F): Codec<ValuesOf<F>> {
  const codecs = Object.values(fields);
  return {
    type: name,
    ...sizeOf(codecs),
    definitions: [...codecs.flatMap((codec) => codec.definitions), structEntry(name, fields)],
    read: (reader) => readFields(fields, reader),
    write: (values) => writeFields(fields, values),
  };
}

export function tuple<F extends Fields>(fields: F): Codec<ValuesOf<F>> {
  const codecs = Object.values(fields);
  return {
    type: `(${codecs.map((codec) => codec.type).join(', ')})`,
    ...sizeOf(codecs),
    definitions: codecs.flatMap((codec) => codec.definitions),
    read: (reader) => readFields(fields, reader),
    write: (values) => writeFields(fields, values),
  };
}

export function option<T>(of: Codec<T>): Codec<T | undefined> {
  const type = `core::option::Option::<${of.type}>`;
  const variants = [
    { name: 'Some', type: of.type },
    { name: 'None', type: '()' },
  ];
  return {
    type,
    definitions: [...of.definitions, { type: 'enum', name: type, variants }],
    read(reader) {
      const variant = reader.next();
      if (variant > 1n) throw new Malformed();
      return variant === 0n ? of.read(reader) : undefined;
    },
    write: (value) => (value === undefined ? [1n] : [0n, ...of.write(value)]),
  };
}

const WORD_BYTES = 31;

/** Cairo's ByteArray: number of whole words, the words, the pending word, its length. */
export function byteArrayFelts(bytes: Uint8Array): bigint[] {
  const words: bigint[] = [];
  const whole = Math.floor(bytes.length / WORD_BYTES);
  for (let index = 0; index < whole; index += 1) {
    words.push(toInteger(bytes.subarray(index * WORD_BYTES, (index + 1) * WORD_BYTES)));
  }
  const pending = bytes.subarray(whole * WORD_BYTES);
  return [BigInt(whole), ...words, toInteger(pending), BigInt(pending.length)];
}

export function byteArrayBytes(
  words: readonly bigint[],
  pending: bigint,
  pendingLength: bigint,
): Uint8Array | undefined {
  if (pendingLength >= BigInt(WORD_BYTES)) return undefined;
  const parts = [...words.map((word) => toBytes(word, WORD_BYTES)), toBytes(pending, Number(pendingLength))];
  const bytes: number[] = [];
  for (const part of parts) {
    if (!part) return undefined;
    bytes.push(...part);
  }
  return Uint8Array.from(bytes);
}

export function toInteger(bytes: Uint8Array): bigint {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return value;
}

/** Big-endian; undefined if the value needs more bytes. */
export function toBytes(value: bigint, length: number): Uint8Array | undefined {
  if (value >> BigInt(8 * length) !== 0n) return undefined;
  const bytes = new Uint8Array(length);
  let rest = value;
  for (let index = length - 1; index >= 0; index -= 1) {
    bytes[index] = Number(rest & 0xffn);
    rest >>= 8n;
  }
  return bytes;
}

/** A Cairo panic: felts that a caller can catch. */
export class Panic extends Error {
  readonly felts: readonly bigint[];

  constructor(felts: readonly bigint[], options?: ErrorOptions) {
    super('A contract panicked.', options);
    this.felts = felts;
  }
}

/** Marks a panic with a ByteArray text, as the Cairo compiler writes it. */
export const BYTE_ARRAY_MAGIC = 0x46a6158a16a947e5916b2a2ca68501a45e93d7110e81aa2d6438b1c57c879a3n;
const SHORT_STRING_LENGTH = 31;

export function panic(text: string): never {
  throw new Panic(panicFelts(text));
}

export function require(condition: boolean, text: string): asserts condition {
  if (!condition) panic(text);
}

function panicFelts(text: string): bigint[] {
  if (text.length <= SHORT_STRING_LENGTH) return [shortString(text)];
  return [BYTE_ARRAY_MAGIC, ...byteArrayFelts(new TextEncoder().encode(text))];
}
