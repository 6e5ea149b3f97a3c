import { type Call, selector } from '@svc/starknet';
import { requireSelf } from './calls.ts';
import { address, felt, Malformed, panic, Reader, require, tuple, u64, u256, type Value } from './codec.ts';
import { action, type ContractFunction, event, type Frame, key, map, view } from './contract.ts';

const policy = tuple({
  max_per_call: u256,
  max_per_window: u256,
  window_seconds: u64,
  spent_in_window: u256,
  window_start: u64,
});
type Policy = Value<typeof policy>;

const policies = map('spending_policies', policy);

const NO_POLICY: Policy = {
  max_per_call: 0n,
  max_per_window: 0n,
  window_seconds: 0n,
  spent_in_window: 0n,
  window_start: 0n,
};

export const SpendingPolicySet = event('SpendingPolicySet', {
  session_key: key(felt),
  token: key(address),
  max_per_call: u256,
  max_per_window: u256,
  window_seconds: u64,
});
export const SpendingPolicyRemoved = event('SpendingPolicyRemoved', { session_key: key(felt), token: key(address) });

const SPENDING_ENTRYPOINTS = ['transfer', 'approve', 'increase_allowance', 'increaseAllowance'];
const spendingSelectors = new Set(SPENDING_ENTRYPOINTS.map((name) => selector(name)));
/** With the account as sender it equals `transfer`: some tokens require no allowance then. */
const transferFromSelectors = new Set(['transfer_from', 'transferFrom'].map((name) => selector(name)));

/** Position of the amount in the calldata; undefined if the call does not spend. */
function amountOffset(frame: Frame, { selector, calldata }: Call, countTransferFrom: boolean): number | undefined {
  if (spendingSelectors.has(selector)) return 1;
  const fromSelf = countTransferFrom && transferFromSelectors.has(selector) && calldata[0] === frame.address;
  return fromSelf ? 2 : undefined;
}

/** Counts in order, so calls of one transaction add up. */
export async function spend(
  frame: Frame,
  sessionKey: bigint,
  calls: readonly Call[],
  countTransferFrom: boolean,
): Promise<void> {
  for (const call of calls) {
    const offset = amountOffset(frame, call, countTransferFrom);
    if (offset === undefined) continue;
    const current = await policies.read(frame, sessionKey, call.to);
    if (current.window_seconds === 0n) continue;
    const updated = spendOnce(current, amountOf(call.calldata, offset), frame.block.timestamp);
    await policies.write(frame, [sessionKey, call.to], updated);
  }
}

/** A window starts with the first spending after the previous one ended. */
function spendOnce(current: Policy, amount: bigint, now: bigint): Policy {
  require(amount <= current.max_per_call, 'Spending: exceeds per-call');
  const ended = now - current.window_start >= current.window_seconds;
  const spent = ended ? 0n : current.spent_in_window;
  // A sum could overflow u256.
  require(amount <= current.max_per_window - spent, 'Spending: exceeds window limit');
  return { ...current, spent_in_window: spent + amount, window_start: ended ? now : current.window_start };
}

function amountOf(calldata: readonly bigint[], offset: number): bigint {
  const reader = new Reader(calldata.slice(offset));
  try {
    const amount = u256.read(reader);
    if (reader.left === 0) return amount;
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
  }
  return panic('Spending: bad calldata');
}

const set = action(
  'set_spending_policy',
  { session_key: felt, token: address, max_per_call: u256, max_per_window: u256, window_seconds: u64 },
  async (frame, { session_key, token, ...limits }) => {
    requireSelf(frame);
    require(session_key !== 0n, 'Session: invalid key');
    require(limits.window_seconds > 0n, 'Spending: invalid window');
    const window_start = frame.block.timestamp;
    await policies.write(frame, [session_key, token], { ...limits, spent_in_window: 0n, window_start });
    SpendingPolicySet.emit(frame, { session_key, token, ...limits });
  },
);

const remove = action('remove_spending_policy', { session_key: felt, token: address }, async (frame, args) => {
  requireSelf(frame);
  await policies.write(frame, [args.session_key, args.token], NO_POLICY);
  SpendingPolicyRemoved.emit(frame, args);
});

export const policyFunctions: readonly ContractFunction[] = [
  set,
  remove,
  view('get_spending_policy', { session_key: felt, token: address }, policy, (frame, { session_key, token }) =>
    policies.read(frame, session_key, token),
  ),
];
