import { classes, selector, toHex } from '@svc/starknet';
import { type Abi, CallData, hash } from 'starknet';
import { describe, expect, it } from 'vitest';
import { classHashOf } from '../chain/transaction.ts';
import { currentSvcAccount } from '../contracts/svc-account.ts';
import { treasury } from '../contracts/treasury.ts';
import { compiledSvcAccount, compiledTreasury, nativeClass } from './state-methods.ts';

interface AbiEntry {
  readonly type: string;
  readonly name: string;
  readonly inputs: readonly { name: string; type: string }[];
  readonly outputs: readonly { type: string }[];
  readonly items?: readonly AbiEntry[];
  readonly members?: readonly { name: string; type: string; kind: string }[];
}

const compiled = compiledSvcAccount();
const abi: AbiEntry[] = JSON.parse(compiled.abi);
const native = currentSvcAccount.abi as unknown as readonly AbiEntry[];

/** The same type has another name per module. */
const typeName = (type: string) => type.replace(/\w+::(?:interface::)?(OutsideExecution|LimitTerms)/, '$1');
const lastName = (name: string) => name.split('::').at(-1) ?? name;

function functions(of: readonly AbiEntry[]) {
  const all = of.flatMap((entry) => (entry.type === 'interface' ? (entry.items ?? []) : []));
  const shown = all.map(({ name, inputs, outputs }) => ({
    name,
    inputs: inputs.map((input) => [input.name, typeName(input.type)]),
    outputs: outputs.map((output) => typeName(output.type)),
  }));
  return shown.sort((a, b) => a.name.localeCompare(b.name));
}

function events(of: readonly AbiEntry[]) {
  const structs = of.filter((entry) => entry.type === 'event' && entry.members);
  const shown = structs.map(({ name, members }) => ({ name: lastName(name), members }));
  return shown.sort((a, b) => a.name.localeCompare(b.name));
}

describe('the class of new wallets', () => {
  it('is shown with the Sierra that its hash is of', () => {
    expect(nativeClass(currentSvcAccount)).toBe(compiled);
    expect(classHashOf(compiled)).toBe(classes.svc);
    const theirs = hash.computeContractClassHash({ ...compiled, abi: JSON.parse(compiled.abi) as Abi } as never);
    expect(toHex(BigInt(theirs))).toBe(toHex(classes.svc));
  });

  it('has the functions, types and events of the native class that runs for it', () => {
    expect(functions(abi)).toEqual(functions(native));
    expect(events(abi)).toEqual(events(native));
    const entrypoints = compiled.entry_points_by_type.EXTERNAL.map((point) => BigInt(point.selector));
    expect(new Set(entrypoints)).toEqual(new Set(currentSvcAccount.entrypoints.keys()));
    expect(compiled.entry_points_by_type.CONSTRUCTOR.map((point) => BigInt(point.selector))).toEqual([
      selector('constructor'),
    ]);
  });

  it('lets starknet.js build calldata from its ABI', () => {
    const calldata = new CallData(abi as unknown as Abi).compile('get_session_data', { session_key: 5n });
    expect(calldata.map(BigInt)).toEqual([5n]);
  });
});

describe('the class of treasuries', () => {
  it('is shown with the Sierra that its hash is of, and has the functions and events of the native class', () => {
    const shown = compiledTreasury();
    expect(nativeClass(treasury)).toBe(shown);
    expect(classHashOf(shown)).toBe(classes.treasury);
    const compiledAbi: AbiEntry[] = JSON.parse(shown.abi);
    const nativeAbi = treasury.abi as unknown as readonly AbiEntry[];
    expect(functions(compiledAbi)).toEqual(functions(nativeAbi));
    expect(events(compiledAbi)).toEqual(events(nativeAbi));
    const entrypoints = shown.entry_points_by_type.EXTERNAL.map((point) => BigInt(point.selector));
    expect(new Set(entrypoints)).toEqual(new Set(treasury.entrypoints.keys()));
  });
});
