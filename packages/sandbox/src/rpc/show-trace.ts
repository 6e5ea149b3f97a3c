import { toHex } from '@svc/starknet';
import { stateRows } from '../chain/rows.ts';
import { type ShownStateDiff, showStateDiff } from '../chain/state-update.ts';
import type { Executed, Gas, Invocation, StateReader, Trace, Transaction } from '../execution/types.ts';

/** What a simulated or stored transaction did, call by call. */
export async function showTrace(before: StateReader, tx: Transaction, executed: Executed) {
  const { validate, execute, feeTransfer } = executed.trace;
  const created = constructorOf(executed.trace);
  return {
    type: tx.type,
    ...(validate && { validate_invocation: showInvocation(validate) }),
    ...(tx.type === 'INVOKE' && { execute_invocation: showExecution(executed, execute) }),
    ...(created && { constructor_invocation: showInvocation(created) }),
    ...(feeTransfer && { fee_transfer_invocation: showInvocation(feeTransfer) }),
    state_diff: await showDiff(before, tx, executed),
    execution_resources: showResources(executed.gas),
  };
}

/** Every object inherits something of this name, so absence has to be looked for. */
function constructorOf(trace: Trace): Invocation | undefined {
  return Object.hasOwn(trace, 'constructor') ? (trace.constructor as unknown as Invocation) : undefined;
}

function showExecution({ status, revertReason }: Executed, execute: Invocation | undefined) {
  if (status === 'REVERTED' || !execute) return { revert_reason: revertReason ?? '' };
  return showInvocation(execute);
}

/** Gas is not kept for each call, only for the transaction. */
function showInvocation(call: Invocation): Record<string, unknown> {
  return {
    contract_address: toHex(call.address),
    entry_point_selector: toHex(call.selector),
    calldata: call.calldata.map(toHex),
    caller_address: toHex(call.caller),
    class_hash: toHex(call.classHash),
    entry_point_type: call.entryPointType,
    call_type: call.callType === 'DEPLOY' ? 'CALL' : call.callType,
    result: call.result.map(toHex),
    calls: call.calls.map(showInvocation),
    events: call.events.map(({ order, keys, data }) => ({ order, keys: keys.map(toHex), data: data.map(toHex) })),
    messages: [],
    execution_resources: { l1_gas: 0, l2_gas: 0 },
    is_reverted: call.failed,
  };
}

export function showResources({ l1Gas, l1DataGas, l2Gas }: Gas) {
  return { l1_gas: Number(l1Gas), l1_data_gas: Number(l1DataGas), l2_gas: Number(l2Gas) };
}

async function showDiff(before: StateReader, tx: Transaction, { diff }: Executed): Promise<ShownStateDiff> {
  const compiledHash = () => (tx.type === 'DECLARE' ? tx.compiledClassHash : 0n);
  const replaced = new Set<string>();
  for (const address of diff.classHashes.keys()) {
    if ((await before.classHashAt(address)) !== 0n) replaced.add(toHex(address));
  }
  return showStateDiff(
    stateRows(0, diff, compiledHash).map((row) => ({ ...row, existed: replaced.has(row.contract) })),
  );
}
