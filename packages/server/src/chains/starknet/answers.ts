import type { Block, ChainEvent, EmittedEvent, Estimate, Receipt } from './chain.ts';
import { toStatus } from './status.ts';

/** What of a node's answers we read. The library's own types are unions of every version there is. */
export interface RpcEvent {
  readonly from_address: string;
  readonly keys: readonly string[];
  readonly data: readonly string[];
}

export interface RpcEmittedEvent extends RpcEvent {
  readonly transaction_hash: string;
  readonly block_number?: number;
  readonly block_hash?: string;
  readonly event_index?: number;
}

export interface RpcReceipt {
  readonly transaction_hash: string;
  readonly actual_fee: { readonly amount: string };
  readonly finality_status: string;
  readonly execution_status: string;
  readonly revert_reason?: string;
  readonly block_number?: number;
  readonly block_hash?: string;
  readonly events: readonly RpcEvent[];
}

export interface RpcBlock {
  readonly block_number: number;
  readonly block_hash: string;
  readonly parent_hash: string;
  readonly timestamp: number;
  readonly sequencer_address?: string;
}

export interface RpcClass {
  readonly entry_points_by_type: { readonly EXTERNAL: readonly { readonly selector: string }[] };
}

export interface RpcEstimate {
  readonly l1_gas_consumed: string;
  readonly l1_gas_price: string;
  readonly l1_data_gas_consumed: string;
  readonly l1_data_gas_price: string;
  readonly l2_gas_consumed: string;
  readonly l2_gas_price: string;
  readonly overall_fee: string;
}

export function readEvent(event: RpcEvent): ChainEvent {
  return { from: BigInt(event.from_address), keys: event.keys.map(BigInt), data: event.data.map(BigInt) };
}

export function readEmittedEvent(event: RpcEmittedEvent): EmittedEvent {
  return {
    ...readEvent(event),
    transactionHash: BigInt(event.transaction_hash),
    blockNumber: event.block_number,
    blockHash: optional(event.block_hash),
    index: event.event_index,
  };
}

export function readReceipt(receipt: RpcReceipt): Receipt {
  return {
    transactionHash: BigInt(receipt.transaction_hash),
    ...toStatus(receipt.finality_status, receipt.execution_status, receipt.revert_reason),
    // The open block has a number already, but no place in the chain.
    blockNumber: receipt.block_hash === undefined ? undefined : receipt.block_number,
    blockHash: optional(receipt.block_hash),
    fee: BigInt(receipt.actual_fee.amount),
    events: receipt.events.map(readEvent),
  };
}

export function readEntrypoints({ entry_points_by_type: { EXTERNAL } }: RpcClass): ReadonlySet<bigint> {
  return new Set(EXTERNAL.map(({ selector }) => BigInt(selector)));
}

export function readBlock(block: RpcBlock): Block {
  return {
    number: block.block_number,
    hash: BigInt(block.block_hash),
    parentHash: BigInt(block.parent_hash),
    timestamp: new Date(block.timestamp * 1_000),
    sequencer: optional(block.sequencer_address),
  };
}

export function readEstimate(estimate: RpcEstimate): Estimate {
  return {
    ok: true,
    fee: BigInt(estimate.overall_fee),
    l1Gas: { amount: BigInt(estimate.l1_gas_consumed), price: BigInt(estimate.l1_gas_price) },
    l1DataGas: { amount: BigInt(estimate.l1_data_gas_consumed), price: BigInt(estimate.l1_data_gas_price) },
    l2Gas: { amount: BigInt(estimate.l2_gas_consumed), price: BigInt(estimate.l2_gas_price) },
  };
}

const optional = (felt: string | undefined) => (felt === undefined ? undefined : BigInt(felt));
