import { selector } from '@svc/starknet';
import { describeAbi } from './abi.ts';
import type { AbiEntry } from './codec.ts';
import type { EventDefinition } from './event.ts';
import type { ContractFunction } from './function.ts';

/** A contract written in TypeScript. To add one: write its file and put it into the registry. */
export interface Contract {
  readonly name: string;
  readonly classHash: bigint;
  readonly construct: ContractFunction | undefined;
  /** By selector. */
  readonly entrypoints: ReadonlyMap<bigint, ContractFunction>;
  /** Cairo 1 ABI, with one `interface`. */
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
