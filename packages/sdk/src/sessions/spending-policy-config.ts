import { encodeSetSpendingPolicy, type SpendingPolicy } from '@svc/starknet';
import { readAddress } from '../signing/read-address.ts';
import type { ContractCall } from '../signing/to-call.ts';
import { type Integer, readInteger } from './read-integer.ts';
import { readSessionKey } from './read-session-key.ts';

/** How much of one token may be spent. Amounts are raw, in the token's smallest unit. */
export interface SpendingLimits {
  /** The token's address. */
  readonly token: string;
  readonly maxPerCall: bigint | string;
  readonly maxPerWindow: bigint | string;
  /** A window opens with the first spending after the last one ended. */
  readonly windowSeconds: Integer;
}

export interface SpendingPolicyConfig extends SpendingLimits {
  readonly sessionPublicKey: string;
}

const U256 = { min: 0n, max: 2n ** 256n - 1n };
/** A window of no seconds is how the contract says that there is no policy. */
const WINDOW = { min: 1n, max: 2n ** 64n - 1n };

export function readSpendingPolicy(config: SpendingPolicyConfig): SpendingPolicy {
  return {
    sessionKey: readSessionKey(config.sessionPublicKey),
    token: readAddress(config.token, 'token'),
    maxPerCall: readInteger('maxPerCall', config.maxPerCall, U256),
    maxPerWindow: readInteger('maxPerWindow', config.maxPerWindow, U256),
    windowSeconds: readInteger('windowSeconds', config.windowSeconds, WINDOW),
  };
}

export function setSpendingPolicyCall(walletAddress: string, policy: SpendingPolicy): ContractCall {
  return {
    contractAddress: walletAddress,
    entrypoint: 'set_spending_policy',
    calldata: encodeSetSpendingPolicy(policy),
  };
}
