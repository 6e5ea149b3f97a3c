import { CalldataReader, encodeU256 } from './calldata.ts';

export interface PolicyKey {
  readonly sessionKey: bigint;
  readonly token: bigint;
}

export interface SpendingPolicy extends PolicyKey {
  readonly maxPerCall: bigint;
  readonly maxPerWindow: bigint;
  readonly windowSeconds: bigint;
}

export function encodeSetSpendingPolicy(policy: SpendingPolicy): bigint[] {
  const { sessionKey, token, maxPerCall, maxPerWindow, windowSeconds } = policy;
  return [sessionKey, token, ...encodeU256(maxPerCall), ...encodeU256(maxPerWindow), windowSeconds];
}

export function decodeSetSpendingPolicy(calldata: readonly bigint[]): SpendingPolicy | undefined {
  const reader = new CalldataReader(calldata);
  return reader.finish({
    sessionKey: reader.felt(),
    token: reader.address(),
    maxPerCall: reader.u256(),
    maxPerWindow: reader.u256(),
    windowSeconds: reader.uint(64n),
  });
}

export function encodePolicyKey({ sessionKey, token }: PolicyKey): bigint[] {
  return [sessionKey, token];
}

export function decodePolicyKey(calldata: readonly bigint[]): PolicyKey | undefined {
  const reader = new CalldataReader(calldata);
  return reader.finish({ sessionKey: reader.felt(), token: reader.address() });
}

/** Answer of `get_spending_policy`; all zero without a policy. */
export interface SpendingPolicyState {
  readonly maxPerCall: bigint;
  readonly maxPerWindow: bigint;
  readonly windowSeconds: bigint;
  readonly spentInWindow: bigint;
  readonly windowStart: bigint;
}

export function encodeSpendingPolicyState(state: SpendingPolicyState): bigint[] {
  const { maxPerCall, maxPerWindow, windowSeconds, spentInWindow, windowStart } = state;
  return [
    ...encodeU256(maxPerCall),
    ...encodeU256(maxPerWindow),
    windowSeconds,
    ...encodeU256(spentInWindow),
    windowStart,
  ];
}

export function decodeSpendingPolicyState(result: readonly bigint[]): SpendingPolicyState | undefined {
  const reader = new CalldataReader(result);
  return reader.finish({
    maxPerCall: reader.u256(),
    maxPerWindow: reader.u256(),
    windowSeconds: reader.uint(64n),
    spentInWindow: reader.u256(),
    windowStart: reader.uint(64n),
  });
}
