import { toHex } from '@svc/starknet';
import type { TransactionInfo } from '../contracts/frame.ts';
import { contractOf } from '../contracts/registry.ts';
import { nestedError } from './failure.ts';
import { Machine } from './machine.ts';
import { ExecutionState } from './state.ts';
import type { BlockContext, CallOutcome, ContractCall, StateReader } from './types.ts';

/** No transaction: nobody signed, so no account acts on it. */
const READING: TransactionInfo = { version: 0n, hash: 0n, signature: [], paymasterData: [] };

/** Asks a contract. Whatever it writes is forgotten. */
export async function callContract(state: StateReader, block: BlockContext, call: ContractCall): Promise<CallOutcome> {
  const classHash = await state.classHashAt(call.to);
  if (classHash === 0n) return { ok: false, kind: 'CONTRACT_NOT_FOUND', error: 'Contract not found' };
  const contract = contractOf(classHash);
  if (contract && !contract.entrypoints.has(call.selector)) {
    const error = `Entry point ${toHex(call.selector)} not found in contract`;
    return { ok: false, kind: 'ENTRYPOINT_NOT_FOUND', error };
  }
  const machine = new Machine(new ExecutionState(state), block, READING);
  const outcome = await machine.call(call);
  if (outcome.ok) return { ok: true, result: outcome.result };
  return { ok: false, kind: 'REVERTED', error: nestedError(outcome.failure) };
}
