import { RpcError } from 'starknet';
import type { Refusal } from './chain.ts';

/** Codes of the Starknet specification that we tell apart. */
export const code = {
  contractNotFound: 20,
  blockNotFound: 24,
  classHashNotFound: 28,
  transactionNotFound: 29,
  duplicateTransaction: 59,
} as const;

/** Reasons are nested by the depth of calls, which nodes bound; a reason for people needs no more than this. */
const MAX_DEPTH = 100;
const MAX_REASON_LENGTH = 2_000;

export const isRefusal = (error: unknown): error is RpcError => error instanceof RpcError;

export function isCode(error: unknown, wanted: number): boolean {
  return isRefusal(error) && Number(error.code) === wanted;
}

/** The chain's no as a value; anything else is thrown on. */
export function toRefusal(error: unknown): Refusal {
  if (!isRefusal(error)) throw error;
  const { message, data } = error.baseError as { message: string; data?: unknown };
  return { ok: false, code: Number(error.code), reason: readReason(message, data) };
}

/** What went wrong, in the words of the innermost contract. */
export function readReason(message: string, data: unknown): string {
  const detail = innermost(data);
  const reason = detail === undefined ? message : `${message}: ${detail}`;
  return reason.slice(0, MAX_REASON_LENGTH);
}

/** Nodes wrap a revert's text into one object for every contract it came through. */
function innermost(data: unknown): string | undefined {
  let current = data;
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    if (typeof current === 'string') return current;
    if (typeof current !== 'object' || current === null) return undefined;
    const { revert_error, execution_error, error } = current as Record<string, unknown>;
    current = revert_error ?? execution_error ?? error;
  }
  return undefined;
}
