import { poseidonMany, shortString, starknetKeccak, toHex } from '@svc/starknet';
import { FieldError, readFelt, readFelts, readInteger, readObject } from './fields.ts';

const VERSION = '0.1.0';
const MAX_FUNCTION_INDEX = 2 ** 32 - 1;

/** A Sierra class as JSON-RPC spells it. */
export interface ContractClass {
  readonly sierra_program: readonly string[];
  readonly contract_class_version: string;
  readonly entry_points_by_type: Readonly<Record<EntryPointType, readonly EntryPoint[]>>;
  readonly abi: string;
}

export interface EntryPoint {
  readonly selector: string;
  readonly function_idx: number;
}

export type EntryPointType = 'CONSTRUCTOR' | 'EXTERNAL' | 'L1_HANDLER';

export function readContractClass(value: unknown, name: string): ContractClass {
  const fields = readObject(value, name);
  if (fields.contract_class_version !== VERSION) {
    throw new FieldError(`${name}.contract_class_version must be ${VERSION}`);
  }
  const abi = fields.abi ?? '';
  if (typeof abi !== 'string') throw new FieldError(`${name}.abi must be a string`);
  const points = readObject(fields.entry_points_by_type, `${name}.entry_points_by_type`);
  const read = (type: EntryPointType) => readEntryPoints(points[type], `${name}.entry_points_by_type.${type}`);
  return {
    sierra_program: readFelts(fields.sierra_program, `${name}.sierra_program`).map(toHex),
    contract_class_version: VERSION,
    entry_points_by_type: {
      CONSTRUCTOR: read('CONSTRUCTOR'),
      EXTERNAL: read('EXTERNAL'),
      L1_HANDLER: read('L1_HANDLER'),
    },
    abi,
  };
}

function readEntryPoints(value: unknown, name: string): EntryPoint[] {
  if (!Array.isArray(value)) throw new FieldError(`${name} must be an array`);
  return value.map((item, index) => {
    const point = readObject(item, `${name}[${index}]`);
    return {
      selector: toHex(readFelt(point.selector, `${name}[${index}].selector`)),
      function_idx: readInteger(point.function_idx, `${name}[${index}].function_idx`, 0, MAX_FUNCTION_INDEX),
    };
  });
}

/** As the network computes it: half a second for a large class, so it runs once for each declare transaction. */
export function classHashOf(definition: ContractClass): bigint {
  const { CONSTRUCTOR, EXTERNAL, L1_HANDLER } = definition.entry_points_by_type;
  return poseidonMany([
    shortString('CONTRACT_CLASS_V0.1.0'),
    entryPointsHash(EXTERNAL),
    entryPointsHash(L1_HANDLER),
    entryPointsHash(CONSTRUCTOR),
    starknetKeccak(definition.abi),
    poseidonMany(definition.sierra_program.map(BigInt)),
  ]);
}

function entryPointsHash(points: readonly EntryPoint[]): bigint {
  return poseidonMany(points.flatMap((point) => [BigInt(point.selector), BigInt(point.function_idx)]));
}
