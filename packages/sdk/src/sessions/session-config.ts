import { encodeAddOrUpdateSessionKey, type SessionKey } from '@svc/starknet';
import { SvcInputError } from '../client/errors.ts';
import { type ContractCall, readEntrypoint } from '../signing/to-call.ts';
import { readInteger } from './read-integer.ts';
import { readSessionKey } from './read-session-key.ts';

/** What a session key may do. */
export interface SessionConfig {
  readonly sessionPublicKey: string;
  /** Unix seconds. */
  readonly validUntil: number;
  /** How many transactions it may sign; one counts once, however many calls it bundles. */
  readonly maxCalls: number;
  /** Functions by name or selector (`0x…`). An empty array allows all but those that change the wallet itself. */
  readonly allowedEntrypoints: readonly string[];
}

/** Milliseconds by mistake would make a session for thousands of years; seconds reach this bound in the year 5138. */
const MAX_VALID_UNTIL = 100_000_000_000n;
/** The contract's u32. */
const MAX_CALLS = 2n ** 32n - 1n;
/** Each is stored on the chain and paid for; apps name a handful. */
const MAX_ENTRYPOINTS = 100;

export function readSessionConfig(config: SessionConfig): SessionKey {
  const { allowedEntrypoints } = config;
  if (!Array.isArray(allowedEntrypoints) || allowedEntrypoints.length > MAX_ENTRYPOINTS) {
    throw new SvcInputError(
      'invalid_input',
      `allowedEntrypoints must be an array of at most ${MAX_ENTRYPOINTS} functions; an empty one allows all.`,
    );
  }
  return {
    sessionKey: readSessionKey(config.sessionPublicKey),
    validUntil: readInteger('validUntil (Unix seconds)', config.validUntil, { min: 1n, max: MAX_VALID_UNTIL }),
    maxCalls: readInteger('maxCalls', config.maxCalls, { min: 1n, max: MAX_CALLS }),
    allowedEntrypoints: [...new Set(allowedEntrypoints.map(readEntrypoint))],
  };
}

export function addSessionKeyCall(walletAddress: string, session: SessionKey): ContractCall {
  return {
    contractAddress: walletAddress,
    entrypoint: 'add_or_update_session_key',
    calldata: encodeAddOrUpdateSessionKey(session),
  };
}
