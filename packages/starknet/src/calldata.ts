import { ADDRESS_BOUND, isFelt } from './felt.ts';

const LOW_128 = 2n ** 128n - 1n;

/** Low half first. */
export function encodeU256(value: bigint): [bigint, bigint] {
  if (value >> 256n !== 0n) throw new RangeError('A u256 has 256 bits');
  return [value & LOW_128, value >> 128n];
}

export function encodeArray(items: readonly bigint[]): bigint[] {
  return [BigInt(items.length), ...items];
}

const WORD_BYTES = 31;

/** A `ByteArray`: words of 31 bytes, then the rest and its length. */
export function encodeByteArray(bytes: Uint8Array): bigint[] {
  const whole = bytes.length - (bytes.length % WORD_BYTES);
  const words: bigint[] = [];
  for (let start = 0; start < whole; start += WORD_BYTES) {
    words.push(integerOf(bytes.subarray(start, start + WORD_BYTES)));
  }
  const rest = bytes.subarray(whole);
  return [...encodeArray(words), integerOf(rest), BigInt(rest.length)];
}

const integerOf = (bytes: Uint8Array): bigint => bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);

/** Decodes like Cairo: values in range, nothing missing, nothing left over. Failure is sticky, checked in `finish`. */
export class CalldataReader {
  #position = 0;
  #failed = false;
  readonly #calldata: readonly bigint[];

  constructor(calldata: readonly bigint[]) {
    this.#calldata = calldata;
  }

  felt(): bigint {
    const value = this.#calldata[this.#position++];
    if (value !== undefined && isFelt(value)) return value;
    this.#failed = true;
    return 0n;
  }

  uint(bits: bigint): bigint {
    return this.#below(1n << bits);
  }

  address(): bigint {
    return this.#below(ADDRESS_BOUND);
  }

  u256(): bigint {
    const low = this.uint(128n);
    return (this.uint(128n) << 128n) | low;
  }

  array<T>(item: () => T): T[] {
    const length = this.felt();
    // Every item takes at least one felt, which bounds the loop.
    if (length > BigInt(this.#calldata.length - this.#position)) this.#failed = true;
    const items: T[] = [];
    for (let i = 0n; i < length && !this.#failed; i++) items.push(item());
    return items;
  }

  finish<T>(value: T): T | undefined {
    return this.#failed || this.#position !== this.#calldata.length ? undefined : value;
  }

  #below(bound: bigint): bigint {
    const value = this.felt();
    if (value < bound) return value;
    this.#failed = true;
    return 0n;
  }
}
