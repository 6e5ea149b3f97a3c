import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { ContractClass } from '../chain/contract-class.ts';

/** What the compiler wrote of the wallet's contract, and `npm run contracts` holds to its source. */
const FILE = path.resolve(import.meta.dirname, '../../../../contracts/compiled/svc_account.json');

let read: ContractClass | undefined;

/**
 * The contract that stands behind the wallet's native class: Sierra and ABI are those that a live network has, so the class hash that a
 * client computes from them is the one that it asked for.
 */
export function compiledSvcAccount(): ContractClass {
  read ??= spelled(JSON.parse(readFileSync(FILE, 'utf8')));
  return read;
}

/** The compiler writes the ABI as a value; on the wire and under the hash it is a text, with a space after each colon and comma. */
function spelled(written: Omit<ContractClass, 'abi'> & { abi: unknown }): ContractClass {
  return { ...written, abi: spaced(written.abi) };
}

function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${spaced(member)}`);
  return `{${members.join(', ')}}`;
}
