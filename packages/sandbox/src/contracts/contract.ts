import { type Call, pedersen, pedersenEach, selector } from '@svc/starknet';
import type { BlockContext } from '../execution/types.ts';
import { type AbiEntry, type Codec, type Fields, Malformed, panic, Reader, type ValuesOf } from './codec.ts';

/** A contract in TypeScript. A new one is added to `contracts` in genesis.ts. */
export interface Contract {
  readonly name: string;
  readonly classHash: bigint;
  readonly construct: ContractFunction | undefined;
  readonly entrypoints: ReadonlyMap<bigint, ContractFunction>;
  readonly abi: readonly AbiEntry[];
}

export function contract(parts: {
  readonly name: string;
  readonly classHash: bigint;
  readonly construct?: ContractFunction;
  readonly functions: readonly ContractFunction[];
  readonly events: readonly EventDefinition[];
}): Contract {
  const { name, classHash, construct, functions, events } = parts;
  return {
    name,
    classHash,
    construct,
    entrypoints: new Map(functions.map((fn) => [selector(fn.name), fn])),
    abi: describeAbi(name, construct, functions, events),
  };
}

export interface ContractFunction {
  readonly name: string;
  readonly mutability: 'view' | 'external';
  readonly params: Fields;
  readonly output: Codec<unknown> | undefined;
  run(frame: Frame, calldata: readonly bigint[]): Promise<bigint[]>;
  /** Cells that some calls will read, as far as their calldata says, so that they are loaded together. */
  foresee?(calldata: readonly (readonly bigint[])[]): readonly bigint[];
}

type Body<P extends Fields, R> = (frame: Frame, args: ValuesOf<P>) => Promise<R> | R;

export function view<P extends Fields, R>(
  name: string,
  params: P,
  output: Codec<R>,
  body: Body<P, R>,
): ContractFunction {
  return { ...external(name, params, output, body), mutability: 'view' };
}

export function external<P extends Fields, R>(
  name: string,
  params: P,
  output: Codec<R>,
  body: Body<P, R>,
): ContractFunction {
  return {
    name,
    mutability: 'external',
    params,
    output,
    run: async (frame, calldata) => output.write(await body(frame, readArguments(params, calldata))),
  };
}

export function action<P extends Fields>(name: string, params: P, body: Body<P, void>): ContractFunction {
  return {
    name,
    mutability: 'external',
    params,
    output: undefined,
    async run(frame, calldata) {
      await body(frame, readArguments(params, calldata));
      return [];
    },
  };
}

export function foreseeing(fn: ContractFunction, foresee: NonNullable<ContractFunction['foresee']>): ContractFunction {
  return { ...fn, foresee };
}

export function alias(name: string, original: ContractFunction): ContractFunction {
  return { ...original, name };
}

/** Panics like compiled contracts on malformed calldata. */
function readArguments<P extends Fields>(params: P, calldata: readonly bigint[]): ValuesOf<P> {
  const reader = new Reader(calldata);
  const values: Record<string, unknown> = {};
  for (const [index, [name, codec]] of Object.entries(params).entries()) {
    try {
      values[name] = codec.read(reader);
    } catch (error) {
      if (error instanceof Malformed) panic(`Failed to deserialize param #${index + 1}`);
      throw error;
    }
  }
  if (reader.left > 0) panic('Input too long for arguments');
  return values as ValuesOf<P>;
}

export interface EventDefinition {
  readonly name: string;
  readonly members: readonly { readonly name: string; readonly kind: 'key' | 'data'; readonly codec: Codec<unknown> }[];
}

interface KeyField<T> {
  readonly key: Codec<T>;
}

export function key<T>(codec: Codec<T>): KeyField<T> {
  return { key: codec };
}

type EventFields = Readonly<Record<string, Codec<unknown> | KeyField<unknown>>>;
type EventValue<C> = C extends KeyField<infer T> ? T : C extends Codec<infer T> ? T : never;
type EventValues<F extends EventFields> = { readonly [K in keyof F]: EventValue<F[K]> };

export interface ContractEvent<F extends EventFields> extends EventDefinition {
  emit(frame: Frame, values: EventValues<F>): void;
}

/** Keys are the selector of the name and the indexed members; the rest is data. */
export function event<F extends EventFields>(name: string, fields: F): ContractEvent<F> {
  const members = Object.entries(fields).map(([field, codec]) =>
    'key' in codec
      ? { name: field, kind: 'key' as const, codec: codec.key }
      : { name: field, kind: 'data' as const, codec },
  );
  const felts = (values: EventValues<F>, kind: 'key' | 'data') =>
    members.filter((member) => member.kind === kind).flatMap((member) => member.codec.write(values[member.name]));
  return {
    name,
    members,
    emit: (frame, values) => frame.emit([selector(name), ...felts(values, 'key')], felts(values, 'data')),
  };
}

/** Leaves room for values of several felts after the last key. */
const KEY_MODULUS = 2n ** 251n - 256n;
/** A hash costs more than the rest of a token transfer; a few megabytes. */
const MAX_CACHED_KEYS = 20_000;

/** At the storage key that the Cairo compiler gives it. */
export interface Variable<T> {
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

export interface StorageMap<T> {
  key(...keys: readonly bigint[]): bigint;
  /** Of a map with one key. */
  keysOf(items: readonly bigint[]): bigint[];
  read(frame: Frame, ...keys: readonly bigint[]): Promise<T>;
  write(frame: Frame, keys: readonly bigint[], value: T): Promise<void>;
}

export function map<T>(name: string, codec: Codec<T>): StorageMap<T> {
  const base = selector(name);
  const cache = new Map<string, bigint>();
  const { readAt, writeAt } = cells(codec);
  const remember = (id: string, hash: bigint) => {
    const hashed = hash % KEY_MODULUS;
    if (cache.size >= MAX_CACHED_KEYS) cache.clear();
    cache.set(id, hashed);
    return hashed;
  };
  const key = (...keys: readonly bigint[]) => {
    const id = keys.join();
    return cache.get(id) ?? remember(id, keys.reduce(pedersen, base));
  };
  return {
    key,
    keysOf(items) {
      const missing = items.filter((item) => !cache.has(String(item)));
      for (const [index, hash] of pedersenEach(base, missing).entries()) remember(String(missing[index]), hash);
      return items.map((item) => key(item));
    },
    read: (frame, ...keys) => readAt(frame, key(...keys)),
    write: (frame, keys, value) => writeAt(frame, key(...keys), value),
  };
}

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

/** A plain call has version 0 and no signature. */
export interface TransactionInfo {
  readonly version: bigint;
  readonly hash: bigint;
  readonly signature: readonly bigint[];
  readonly paymasterData: readonly bigint[];
}

export type CallResult =
  | { readonly ok: true; readonly result: bigint[] }
  /** The callee's felts, followed by Cairo's `ENTRYPOINT_FAILED`. */
  | { readonly ok: false; readonly felts: bigint[] };

export interface Deployment {
  readonly classHash: bigint;
  readonly salt: bigint;
  readonly calldata: readonly bigint[];
  /** The address does not depend on the deployer. */
  readonly fromZero: boolean;
}

export interface Frame {
  readonly address: bigint;
  readonly caller: bigint;
  readonly block: BlockContext;
  readonly transaction: TransactionInfo;
  read(key: bigint): Promise<bigint>;
  write(key: bigint, value: bigint): Promise<void>;
  /** Loads what these calls will read. Costs no gas and changes nothing. */
  foresee(calls: readonly Call[]): Promise<void>;
  emit(keys: bigint[], data: bigint[]): void;
  /** The callee's panic propagates. */
  call(call: Call): Promise<bigint[]>;
  /** The callee's panic undoes only the callee. */
  tryCall(call: Call): Promise<CallResult>;
  /** Another class's code over this contract's storage, address and caller. */
  libraryCall(classHash: bigint, selector: bigint, calldata: readonly bigint[]): Promise<bigint[]>;
  deploy(deployment: Deployment): Promise<bigint>;
  replaceClass(classHash: bigint): Promise<void>;
}

export function describeAbi(
  name: string,
  construct: ContractFunction | undefined,
  functions: readonly ContractFunction[],
  events: readonly EventDefinition[],
): AbiEntry[] {
  const module = `svc::${name}`;
  const constructorEntry = construct ? [{ type: 'constructor', name: 'constructor', inputs: inputs(construct) }] : [];
  return [
    { type: 'impl', name: `${name}Impl`, interface_name: `${module}::I${name}` },
    ...definitions(construct ? [construct, ...functions] : functions, events),
    { type: 'interface', name: `${module}::I${name}`, items: functions.map(functionEntry) },
    ...constructorEntry,
    ...events.map((event) => eventEntry(module, event)),
    {
      type: 'event',
      name: `${module}::Event`,
      kind: 'enum',
      variants: events.map((event) => ({ name: event.name, type: `${module}::${event.name}`, kind: 'nested' })),
    },
  ];
}

function definitions(functions: readonly ContractFunction[], events: readonly EventDefinition[]): AbiEntry[] {
  const codecs: Codec<unknown>[] = [
    ...functions.flatMap((fn) => Object.values(fn.params)),
    ...functions.flatMap((fn) => (fn.output ? [fn.output] : [])),
    ...events.flatMap((event) => event.members.map((member) => member.codec)),
  ];
  const entries = codecs.flatMap((codec) => codec.definitions);
  return [...new Map(entries.map((entry) => [entry.name, entry])).values()];
}

function inputs(fn: ContractFunction): AbiEntry[] {
  return Object.entries(fn.params).map(([name, codec]) => ({ name, type: codec.type }));
}

function functionEntry(fn: ContractFunction): AbiEntry {
  return {
    type: 'function',
    name: fn.name,
    inputs: inputs(fn),
    outputs: fn.output ? [{ type: fn.output.type }] : [],
    state_mutability: fn.mutability,
  };
}

function eventEntry(module: string, event: EventDefinition): AbiEntry {
  const members = event.members.map(({ name, kind, codec }) => ({ name, type: codec.type, kind }));
  return { type: 'event', name: `${module}::${event.name}`, kind: 'struct', members };
}
