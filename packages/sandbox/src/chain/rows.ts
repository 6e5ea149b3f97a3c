import { toHex } from '@svc/starknet';
import type { Executed, StateDiff, Transaction } from '../execution/types.ts';
import { type ShownTransaction, showTransaction } from './show-transaction.ts';

/** The slots of a contract that are not storage, and the place of declared classes. */
export const NONCE = 'nonce';
export const CLASS = 'class';
export const CLASSES = 'classes';

export interface StateRow {
  readonly contract: string;
  readonly slot: string;
  readonly version: number;
  readonly value: string;
}

export interface BlockRow {
  readonly number: number;
  readonly hash: string;
  readonly parent_hash: string;
  readonly timestamp: number;
  readonly version: number;
}

export interface TransactionRow {
  readonly version: number;
  readonly hash: string;
  readonly block_number: number;
  readonly index: number;
  readonly transaction: ShownTransaction;
  readonly execution_status: 'SUCCEEDED' | 'REVERTED';
  readonly revert_reason: string | null;
  readonly actual_fee: string;
  readonly l1_gas: number;
  readonly l1_data_gas: number;
  readonly l2_gas: number;
  readonly contract_address: string | null;
}

export interface EventRow {
  readonly version: number;
  readonly index: number;
  readonly from_address: string;
  readonly keys: readonly string[];
  readonly data: readonly string[];
}

export interface Place {
  readonly version: number;
  readonly block: number;
  readonly index: number;
}

export function transactionRow(place: Place, tx: Transaction, executed: Executed): TransactionRow {
  return {
    version: place.version,
    hash: toHex(tx.hash),
    block_number: place.block,
    index: place.index,
    transaction: showTransaction(tx),
    execution_status: executed.status,
    // PostgreSQL has no place for this character.
    revert_reason: executed.revertReason?.replaceAll('\0', '') ?? null,
    actual_fee: toHex(executed.fee),
    l1_gas: Number(executed.gas.l1Gas),
    l1_data_gas: Number(executed.gas.l1DataGas),
    l2_gas: Number(executed.gas.l2Gas),
    contract_address: executed.contractAddress === undefined ? null : toHex(executed.contractAddress),
  };
}

export function eventRows(version: number, { events }: Executed): EventRow[] {
  return events.map((event, index) => ({
    version,
    index,
    from_address: toHex(event.from),
    keys: event.keys.map(toHex),
    data: event.data.map(toHex),
  }));
}

export function stateRows(version: number, diff: StateDiff, compiledHash: (classHash: bigint) => bigint): StateRow[] {
  const row = (contract: string, slot: string, value: bigint) => ({ contract, slot, version, value: toHex(value) });
  const rows: StateRow[] = [];
  for (const [address, cells] of diff.storage) {
    for (const [key, value] of cells) rows.push(row(toHex(address), toHex(key), value));
  }
  for (const [address, nonce] of diff.nonces) rows.push(row(toHex(address), NONCE, nonce));
  for (const [address, classHash] of diff.classHashes) rows.push(row(toHex(address), CLASS, classHash));
  for (const classHash of diff.declared) rows.push(row(CLASSES, toHex(classHash), compiledHash(classHash)));
  return rows;
}
