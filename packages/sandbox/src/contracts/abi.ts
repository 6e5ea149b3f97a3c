import type { AbiEntry, Codec } from './codec.ts';
import type { EventDefinition } from './event.ts';
import type { ContractFunction } from './function.ts';

/** The ABI that the Cairo compiler would write for these functions and events. */
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

/** Structs and enums that the functions and events speak of, each once. */
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
