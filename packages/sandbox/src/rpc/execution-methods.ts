import { toHex } from '@svc/starknet';
import { FieldError, readChoice } from '../chain/fields.ts';
import { Overlay } from '../chain/overlay.ts';
import { readTransaction } from '../chain/read-transaction.ts';
import { stateAt } from '../chain/state-at.ts';
import { executeTransaction } from '../execution/execute.ts';
import { gasPrices } from '../execution/fees.ts';
import type { Executed, ExecutionOptions, StateReader, Transaction } from '../execution/types.ts';
import { estimationBlock } from './block-context.ts';
import { blockOf } from './block-id.ts';
import type { CallContext, Method } from './context.ts';
import { rpcErrors } from './rpc-error.ts';
import { showTrace } from './show-trace.ts';

/** More than any client sends in one estimation; each may take as long as a transaction. */
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

/** Runs transactions one after the other, each on what the ones before it left. */
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
    // As on a live node, an estimation may run ahead of the account's nonce.
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
