import { ApiError } from '@svc/protocol';

/** Errors of SNIP-29 that mean something to whoever signed. */
const INVALID_SIGNATURE = 153;
const EXECUTION_ERROR = 156;
const INVALID_TIME_BOUNDS = 157;
/** Speaks of the paymaster's own trouble, and says nothing of what it did. */
const UNKNOWN_ERROR = 163;
const FIRST_OF_SNIP29 = 150;
/** JSON-RPC: the request was not understood. */
const NOT_UNDERSTOOD = new Set([-32700, -32600, -32602]);

interface Refused {
  readonly code: number;
  readonly reason: string;
}

/** Whether a no was said before anything was sent, if the paymaster is to be believed. */
export function provesNothingSent({ code }: Refused): boolean {
  return (code >= FIRST_OF_SNIP29 && code < UNKNOWN_ERROR) || NOT_UNDERSTOOD.has(code);
}

/** For what is only prepared: a wrong time or signature would be our mistake, not the caller's. */
export function refusedToBuild(refused: Refused): ApiError {
  return refused.code === EXECUTION_ERROR ? wouldRevert(refused) : unavailable(`refused to build (${show(refused)})`);
}

export function refusedToExecute(refused: Refused): ApiError {
  if (refused.code === INVALID_SIGNATURE) return new ApiError('invalid_signature');
  if (refused.code === INVALID_TIME_BOUNDS) return new ApiError('typed_data_expired');
  if (refused.code === EXECUTION_ERROR) return wouldRevert(refused);
  return unavailable(`refused to execute (${show(refused)})`);
}

/** The caller learns that it is not their fault; the log has the reason. */
export function unavailable(reason: string): ApiError {
  return new ApiError('chain_unavailable', 'The paymaster did not serve this request. Try again.', {
    cause: new Error(`The paymaster ${reason}.`),
  });
}

/** It may be executed yet, so nothing new should be signed in its place. */
export function notTakenYet(reason: string): ApiError {
  return new ApiError(
    'chain_unavailable',
    'The transaction is stored, but the paymaster has not taken it yet. Send the same request again in a moment.',
    { cause: new Error(`The paymaster has not taken a transaction: ${reason}.`) },
  );
}

function wouldRevert({ reason }: Refused): ApiError {
  return new ApiError('transaction_reverted', `The transaction would be reverted: ${reason}`);
}

const show = ({ code, reason }: Refused) => `error ${code}: ${reason}`;
