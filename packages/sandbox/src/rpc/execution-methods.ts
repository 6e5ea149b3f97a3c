import { toHex } from '@svc/starknet';
import { queuedTransaction } from '../chain/draft.ts';
import {
  findTransaction,
  type ShownStateDiff,
  type StoredTransaction,
  showStateDiff,
  transactionsOf,
} from '../chain/queries.ts';
import { Overlay, stateAt, stateRows } from '../chain/state.ts';
import { FieldError, readChoice, readTransaction } from '../chain/transaction.ts';
import { executeTransaction } from '../execution/execute.ts';
import { gasPrices } from '../execution/fees.ts';
import type { Executed, ExecutionOptions, Gas, Invocation, StateReader, Transaction } from '../execution/types.ts';
import { blockOf, type CallContext, contextOf, estimationBlock, type Method, rpcErrors } from './context.ts';
import { readHash } from './transaction-methods.ts';

/** Each may cost as much as a transaction. */
const MAX_TRANSACTIONS = 100;
const SIMULATION_FLAGS = ['SKIP_VALIDATE', 'SKIP_FEE_CHARGE'] as const;

interface Simulated {
  readonly tx: Transaction;
  readonly before: StateReader;
  readonly executed: Executed;
}

const estimateFee: Method = {
  params: ['request', 'simulation_flags', 'block_id'],
  async run(context, { request, simulation_flags, block_id }) {
    const transactions = readTransactions(request, 'request');
    const skipValidate = readFlags(simulation_flags, ['SKIP_VALIDATE']).has('SKIP_VALIDATE');
    const simulated = await simulate(context, block_id, transactions, { skipValidate, skipFee: true });
    return simulated.map(({ executed }, index) => {
      if (executed.status === 'REVERTED') {
        throw rpcErrors.executionError(index, executed.revertError ?? executed.revertReason ?? '');
      }
      return showEstimate(executed);
    });
  },
};

const simulateTransactions: Method = {
  params: ['block_id', 'transactions', 'simulation_flags'],
  async run(context, { block_id, transactions: list, simulation_flags }) {
    const transactions = readTransactions(list, 'transactions');
    const flags = readFlags(simulation_flags, SIMULATION_FLAGS);
    const options = { skipValidate: flags.has('SKIP_VALIDATE'), skipFee: flags.has('SKIP_FEE_CHARGE') };
    const answers = [];
    for (const { tx, before, executed } of await simulate(context, block_id, transactions, options)) {
      answers.push({
        transaction_trace: await showTrace(before, tx, executed),
        fee_estimation: showEstimate(executed),
      });
    }
    return answers;
  },
};

async function simulate(
  context: CallContext,
  blockId: unknown,
  transactions: readonly Transaction[],
  options: ExecutionOptions,
): Promise<Simulated[]> {
  const block = await blockOf(context, blockId);
  const simulated: Simulated[] = [];
  let before: StateReader = stateAt(context.reads, context.cache, block.version);
  for (const [index, tx] of transactions.entries()) {
    // As on a live node, an estimate may be ahead of the account's nonce.
    const ahead = tx.type !== 'DEPLOY_ACCOUNT' && tx.nonce > (await before.nonceAt(tx.sender));
    const result = await executeTransaction(before, estimationBlock(context, block), tx, {
      ...options,
      skipNonce: ahead,
    });
    if ('refused' in result) throw rpcErrors.executionError(index, result.error ?? result.reason);
    simulated.push({ tx, before, executed: result });
    const after = new Overlay(before);
    after.apply(result.diff);
    before = after;
  }
  return simulated;
}

function readTransactions(value: unknown, name: string): Transaction[] {
  if (!Array.isArray(value)) throw new FieldError(`${name} must be an array of transactions`);
  if (value.length > MAX_TRANSACTIONS) throw new FieldError(`${name} must have at most ${MAX_TRANSACTIONS} items`);
  return value.map((item, index) => readTransaction(item, `${name}[${index}]`).tx);
}

function readFlags<T extends string>(value: unknown, known: readonly T[]): Set<T> {
  if (value === undefined || value === null) return new Set();
  if (!Array.isArray(value)) throw new FieldError('simulation_flags must be an array');
  return new Set(value.map((flag) => readChoice(flag, 'simulation_flags', known)));
}

function showEstimate({ gas, fee }: Executed) {
  const prices = gasPrices();
  return {
    l1_gas_consumed: toHex(gas.l1Gas),
    l1_gas_price: toHex(prices.l1Gas.fri),
    l2_gas_consumed: toHex(gas.l2Gas),
    l2_gas_price: toHex(prices.l2Gas.fri),
    l1_data_gas_consumed: toHex(gas.l1DataGas),
    l1_data_gas_price: toHex(prices.l1DataGas.fri),
    overall_fee: toHex(fee),
    unit: 'FRI',
  };
}

export const executionMethods: Record<string, Method> = {
  starknet_estimateFee: estimateFee,
  starknet_simulateTransactions: simulateTransactions,
};

const traceTransaction: Method = {
  params: ['transaction_hash'],
  async run(context, { transaction_hash }) {
    const hash = readHash(transaction_hash);
    const stored = await findTransaction(context.reads, context.head, hash);
    if (stored) return trace(context, stored);
    if (await queuedTransaction(context.reads, hash)) throw rpcErrors.noTrace('RECEIVED');
    throw rpcErrors.transactionNotFound();
  },
};

const traceBlockTransactions: Method = {
  params: ['block_id'],
  async run(context, { block_id }) {
    const block = await blockOf(context, block_id);
    const traces = [];
    for (const stored of await transactionsOf(context.reads, context.head, block.number)) {
      traces.push({ transaction_hash: stored.hash, trace_root: await trace(context, stored) });
    }
    return traces;
  },
};

/** Traces are not stored: the transaction runs again on its original state. */
async function trace(context: CallContext, stored: StoredTransaction) {
  const { tx } = readTransaction(stored.transaction, 'transaction');
  const before = stateAt(context.reads, context.cache, stored.version - 1);
  const block = await blockOf(context, blockIdOf(context, stored.block_number));
  const options = stored.revert_reason === null ? {} : { forceRevert: stored.revert_reason };
  const executed = await executeTransaction(before, contextOf(block.number, block.timestamp), tx, options);
  if ('refused' in executed) throw rpcErrors.unexpected(`The transaction cannot be run again: ${executed.reason}`);
  return showTrace(before, tx, executed);
}

function blockIdOf({ head }: CallContext, number: number): unknown {
  return number > head.number ? 'pre_confirmed' : { block_number: number };
}

export const traceMethods: Record<string, Method> = {
  starknet_traceTransaction: traceTransaction,
  starknet_traceBlockTransactions: traceBlockTransactions,
};

export async function showTrace(before: StateReader, tx: Transaction, executed: Executed) {
  const { validate, execute, construct, feeTransfer } = executed.trace;
  return {
    type: tx.type,
    ...(validate && { validate_invocation: showInvocation(validate) }),
    ...(tx.type === 'INVOKE' && { execute_invocation: showExecution(executed, execute) }),
    ...(construct && { constructor_invocation: showInvocation(construct) }),
    ...(feeTransfer && { fee_transfer_invocation: showInvocation(feeTransfer) }),
    state_diff: await showDiff(before, tx, executed),
    execution_resources: showResources(executed.gas),
  };
}

function showExecution({ status, revertReason }: Executed, execute: Invocation | undefined) {
  if (status === 'REVERTED' || !execute) return { revert_reason: revertReason ?? '' };
  return showInvocation(execute);
}

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
