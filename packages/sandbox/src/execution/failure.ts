import { hex64 } from '@svc/protocol/values';
import { toHex } from '@svc/starknet';
import { BYTE_ARRAY_MAGIC, byteArrayBytes } from '../contracts/codec.ts';
import type { NestedError } from './types.ts';

export interface FailedFrame {
  readonly kind: 'CALL' | 'LIBRARY_CALL' | 'CONSTRUCTOR';
  readonly address: bigint;
  readonly classHash: bigint;
  readonly selector: bigint;
}

/** A panic can be caught by the caller; a fatal failure ends the transaction. */
export type Failure =
  | {
      readonly type: 'PANIC';
      readonly frames: readonly FailedFrame[];
      /** Of the failing call. */
      readonly felts: readonly bigint[];
      /** Of the innermost call. */
      readonly reason: readonly bigint[];
    }
  | { readonly type: 'FATAL'; readonly frames: readonly FailedFrame[]; readonly text: string };

/** As nodes truncate it. */
const MAX_REASON_LENGTH = 15_000;

const PREAMBLES = {
  CALL: 'Error in the called contract',
  LIBRARY_CALL: 'Error in a library call',
  CONSTRUCTOR: 'Error in the contract class constructor',
} as const;

/** The message of nodes: heading, call stack, innermost reason. */
export function failureText(heading: string, failure: Failure): string {
  const text = failure.type === 'PANIC' ? panicText(failure) : fatalText(failure);
  return cut(`${heading}:\n${text}\n`);
}

function panicText({ frames, reason }: Extract<Failure, { type: 'PANIC' }>): string {
  const [outermost] = frames;
  const way = frames.map((frame) => `Error in contract ${frameText(frame)}:\n`).join('');
  const head = outermost ? `0: ${PREAMBLES[outermost.kind]} ${frameText(outermost)}:\n` : '';
  return `${head}Execution failed. Failure reason:\n${way}${formatPanic(reason)}.`;
}

function fatalText({ frames, text }: Extract<Failure, { type: 'FATAL' }>): string {
  const way = frames.map((frame, depth) => `${depth}: ${PREAMBLES[frame.kind]} ${frameText(frame)}:\n`).join('');
  return `${way}${text}`;
}

function frameText({ address, classHash, selector }: FailedFrame): string {
  return `(contract address: ${padHex(address)}, class hash: ${padHex(classHash)}, selector: ${padHex(selector)})`;
}

export function nestedError(failure: Failure): NestedError {
  return nested(failure, failure.type === 'PANIC' ? formatPanic(failure.reason) : failure.text);
}

/** As `nestedError`, for `starknet_call`: nodes answer the felts of a panic as they are. */
export function callError(failure: Failure): NestedError {
  return nested(failure, failure.type === 'PANIC' ? JSON.stringify(failure.felts.map(toHex)) : failure.text);
}

function nested(failure: Failure, innermost: string): NestedError {
  return failure.frames.reduceRight<NestedError>(
    (error, { address, classHash, selector }) => ({
      contract_address: toHex(address),
      class_hash: toHex(classHash),
      selector: toHex(selector),
      error,
    }),
    cut(innermost),
  );
}

export function padHex(felt: bigint): string {
  return `0x${hex64(felt)}`;
}

function cut(text: string): string {
  return text.length <= MAX_REASON_LENGTH ? text : `${text.slice(0, MAX_REASON_LENGTH)}\n...`;
}

export function formatPanic(felts: readonly bigint[]): string {
  const items: string[] = [];
  let index = 0;
  while (index < felts.length) {
    const long = felts[index] === BYTE_ARRAY_MAGIC ? longText(felts.slice(index + 1)) : undefined;
    items.push(long ? `"${long.text}"` : formatFelt(felts[index] ?? 0n));
    index += long?.length ?? 1;
  }
  return items.length === 1 ? items.join() : `(${items.join(', ')})`;
}

function formatFelt(felt: bigint): string {
  const bytes = Buffer.from(felt === 0n ? '' : evenHex(felt), 'hex').toString('latin1');
  return /^[\x20-\x7e\s]*$/.test(bytes) ? `${toHex(felt)} ('${bytes}')` : toHex(felt);
}

function evenHex(felt: bigint): string {
  const digits = felt.toString(16);
  return digits.length % 2 === 0 ? digits : `0${digits}`;
}

/** A ByteArray after the magic felt; `length` includes the magic. */
function longText(felts: readonly bigint[]): { text: string; length: number } | undefined {
  const [count, ...rest] = felts;
  if (count === undefined || count > BigInt(rest.length)) return undefined;
  const words = rest.slice(0, Number(count));
  const [pending, pendingLength] = rest.slice(words.length);
  if (pending === undefined || pendingLength === undefined) return undefined;
  const bytes = byteArrayBytes(words, pending, pendingLength);
  return bytes && { text: new TextDecoder().decode(bytes), length: words.length + 4 };
}
