import { classes, selector, toHex } from '@svc/starknet';
import type { ContractClass } from '../chain/contract-class.ts';
import type { Contract } from '../contracts/contract.ts';
import { compiledSvcAccount } from './compiled-class.ts';

/** There is no Sierra behind most contracts of ours; clients only look whether the field is there. */
const NO_PROGRAM = ['0x1', '0x6', '0x0'];

const shown = new Map<bigint, ContractClass>();

/** A class of ours as a node shows compiled ones: with its true ABI and entry points. */
export function nativeClass(contract: Contract): ContractClass {
  if (contract.classHash === classes.svc) return compiledSvcAccount();
  const known = shown.get(contract.classHash);
  if (known) return known;
  const external = [...contract.entrypoints.keys()].sort((a, b) => (a < b ? -1 : 1));
  const definition: ContractClass = {
    sierra_program: NO_PROGRAM,
    contract_class_version: '0.1.0',
    entry_points_by_type: {
      CONSTRUCTOR: contract.construct
        ? [{ selector: toHex(selector('constructor')), function_idx: external.length }]
        : [],
      EXTERNAL: external.map((one, index) => ({ selector: toHex(one), function_idx: index })),
      L1_HANDLER: [],
    },
    abi: JSON.stringify(contract.abi),
  };
  shown.set(contract.classHash, definition);
  return definition;
}
