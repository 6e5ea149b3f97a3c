import { type Call, parseFelt, selector, toHex } from '@svc/starknet';
import { SvcInputError } from '../client/errors.ts';
import { isObject } from '../client/is-object.ts';
import { readAddress } from './read-address.ts';

/** One call of a contract's function, as an app writes it. */
export interface ContractCall {
  readonly contractAddress: string;
  /** The function's name, or its selector (`0x…`). */
  readonly entrypoint: string;
  /** Whole numbers: bigint, hexadecimal or decimal text, or a number that is exact. */
  readonly calldata: readonly (string | number | bigint)[];
}

const FUNCTION_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Several calls by their values, at least one. */
export function toCalls(calls: readonly ContractCall[]): Call[] {
  if (!Array.isArray(calls) || calls.length === 0 || calls.some((call) => !isObject(call))) {
    throw new SvcInputError('invalid_input', 'calls must be a list of calls, and not empty.');
  }
  return calls.map(toCall);
}

/** The call by its values: what the typed data is compared with. */
export function toCall({ contractAddress, entrypoint, calldata }: ContractCall): Call {
  if (!Array.isArray(calldata)) {
    throw new SvcInputError('invalid_input', 'calldata must be a list; pass [] for a function that takes nothing.');
  }
  return {
    to: readAddress(contractAddress, 'contractAddress'),
    selector: readEntrypoint(entrypoint),
    calldata: calldata.map(readFelt),
  };
}

/** The call as the service takes it. A function's name stays a name: the history shows it. */
export function toWireCall(call: ContractCall): { contractAddress: string; entrypoint: string; calldata: string[] } {
  const { to, calldata } = toCall(call);
  return { contractAddress: toHex(to), entrypoint: call.entrypoint, calldata: calldata.map(toHex) };
}

export function readEntrypoint(text: string): bigint {
  if (typeof text === 'string' && FUNCTION_NAME.test(text)) return selector(text);
  const value = typeof text === 'string' && text.startsWith('0x') ? parseFelt(text) : undefined;
  if (value?.ok) return value.value;
  throw new SvcInputError('invalid_input', `entrypoint must be a function's name or a selector (0x…): ${text}`);
}

function readFelt(item: string | number | bigint, index: number): bigint {
  const isExact = typeof item !== 'number' || Number.isSafeInteger(item);
  const value = isExact ? parseFelt(String(item)) : undefined;
  if (value?.ok) return value.value;
  const reason = value?.reason ?? 'is a number that is not exact: pass it as text or bigint';
  throw new SvcInputError('invalid_input', `calldata[${index}] ${reason}.`);
}
