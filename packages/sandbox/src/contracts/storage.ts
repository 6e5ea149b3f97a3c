import { pedersen, selector } from '@svc/starknet';
import { type Codec, Reader } from './codec.ts';
import type { Frame } from './frame.ts';

/** Storage keys lie below this, so that a value of several felts never runs past the last key. */
const KEY_MODULUS = 2n ** 251n - 256n;
/** A hash costs more than the rest of a token transfer; this many keys of a map stay known, a few megabytes. */
const MAX_CACHED_KEYS = 20_000;

/** A plain variable of a contract, where the Cairo compiler would put it. */
export interface Variable<T> {
  /** The key of its first felt. */
  readonly key: bigint;
  read(frame: Frame): Promise<T>;
  write(frame: Frame, value: T): Promise<void>;
}

export function variable<T>(name: string, codec: Codec<T>): Variable<T> {
  const key = selector(name);
  const { readAt, writeAt } = cells(codec);
  return {
    key,
    read: (frame) => readAt(frame, key),
    write: (frame, value) => writeAt(frame, key, value),
  };
}

/** A map of a contract: each key is hashed onto the name. */
export interface StorageMap<T> {
  key(...keys: readonly bigint[]): bigint;
  read(frame: Frame, ...keys: readonly bigint[]): Promise<T>;
  write(frame: Frame, keys: readonly bigint[], value: T): Promise<void>;
}

export function map<T>(name: string, codec: Codec<T>): StorageMap<T> {
  const base = selector(name);
  const cache = new Map<string, bigint>();
  const { readAt, writeAt } = cells(codec);
  const key = (...keys: readonly bigint[]) => {
    const id = keys.join();
    const known = cache.get(id);
    if (known !== undefined) return known;
    const hashed = keys.reduce(pedersen, base) % KEY_MODULUS;
    if (cache.size >= MAX_CACHED_KEYS) cache.clear();
    cache.set(id, hashed);
    return hashed;
  };
  return {
    key,
    read: (frame, ...keys) => readAt(frame, key(...keys)),
    write: (frame, keys, value) => writeAt(frame, key(...keys), value),
  };
}

/** A value takes as many cells as it has felts. */
function cells<T>(codec: Codec<T>) {
  const { size } = codec;
  if (size === undefined) throw new TypeError(`${codec.type} has no fixed size, so it cannot stand in storage.`);
  return {
    async readAt(frame: Frame, key: bigint): Promise<T> {
      const felts: bigint[] = [];
      for (let offset = 0; offset < size; offset += 1) felts.push(await frame.read(key + BigInt(offset)));
      return codec.read(new Reader(felts));
    },
    async writeAt(frame: Frame, key: bigint, value: T): Promise<void> {
      for (const [offset, felt] of codec.write(value).entries()) await frame.write(key + BigInt(offset), felt);
    },
  };
}
