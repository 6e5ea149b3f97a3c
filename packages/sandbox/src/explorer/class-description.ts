import { selector, toHex } from '@svc/starknet';

/** What a page needs to show calls and events of a class by name. Selectors are computed here, so that it needs no hash function. */
export interface ClassDescription {
  readonly classHash: string;
  readonly name: string;
  readonly functions: readonly {
    readonly name: string;
    readonly selector: string;
    readonly isView: boolean;
    readonly inputs: readonly Member[];
    readonly outputs: readonly string[];
  }[];
  readonly events: readonly {
    readonly name: string;
    readonly selector: string;
    readonly members: readonly (Member & { readonly kind: 'key' | 'data' })[];
  }[];
  readonly structs: Readonly<Record<string, readonly Member[]>>;
  readonly enums: Readonly<Record<string, readonly Member[]>>;
}

export interface Member {
  readonly name: string;
  readonly type: string;
}

type Entry = Readonly<Record<string, unknown>>;

/** Entries of a form that it does not know are left out: anyone may declare a class. */
export function describeClass(classHash: bigint, name: string, abi: readonly unknown[]): ClassDescription {
  const entries = abi.filter(isEntry);
  const functions = entries.flatMap((entry) =>
    entry.type === 'interface' ? listOf(entry.items).filter(isEntry) : entry.type === 'function' ? [entry] : [],
  );
  const construct = entries.filter(({ type }) => type === 'constructor');
  return {
    classHash: toHex(classHash),
    name,
    functions: [...functions, ...construct].map((entry) => ({
      name: textOf(entry.name),
      selector: toHex(selector(textOf(entry.name))),
      isView: entry.state_mutability === 'view',
      inputs: membersOf(entry.inputs),
      outputs: listOf(entry.outputs)
        .filter(isEntry)
        .map(({ type }) => textOf(type)),
    })),
    events: entries
      .filter(({ type, kind }) => type === 'event' && kind === 'struct')
      .map((entry) => ({
        name: lastPart(textOf(entry.name)),
        selector: toHex(selector(lastPart(textOf(entry.name)))),
        members: listOf(entry.members)
          .filter(isEntry)
          .map((one) => ({
            name: textOf(one.name),
            type: textOf(one.type),
            kind: one.kind === 'key' ? 'key' : 'data',
          })),
      })),
    structs: typesOf(entries, 'struct', 'members'),
    enums: typesOf(entries, 'enum', 'variants'),
  };
}

function typesOf(entries: readonly Entry[], type: string, parts: string): Record<string, Member[]> {
  const found = entries.filter((entry) => entry.type === type);
  return Object.fromEntries(found.map((entry) => [textOf(entry.name), membersOf(entry[parts])]));
}

function membersOf(value: unknown): Member[] {
  return listOf(value)
    .filter(isEntry)
    .map(({ name, type }) => ({ name: textOf(name), type: textOf(type) }));
}

const isEntry = (value: unknown): value is Entry => typeof value === 'object' && value !== null;
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const lastPart = (name: string): string => name.split('::').at(-1) ?? name;

/** The ABI of a class as it was declared. */
export function parseAbi(text: unknown): readonly unknown[] {
  try {
    return listOf(typeof text === 'string' ? JSON.parse(text) : text);
  } catch {
    return [];
  }
}
