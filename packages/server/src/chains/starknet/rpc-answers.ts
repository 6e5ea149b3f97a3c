import type { OnChainTxStatus } from '@svc/protocol';
import { spellPanic } from '@svc/starknet';
import { RpcRefusal } from '../node-fetch.ts';
import type {
  Block,
  ChainEvent,
  EmittedEvent,
  Estimate,
  RawInvoke,
  Receipt,
  Refusal,
  SignedInvoke,
  TransactionStatus,
} from './chain.ts';

/** The fields that we read; the library's types are unions over all versions. */
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

export interface RpcEventPage {
  readonly events: readonly RpcEmittedEvent[];
  readonly continuation_token?: string;
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

/** Of other types and versions some fields are missing. */
export type RpcTransaction = Omit<RawInvoke, 'type' | 'version'> & {
  readonly type: string;
  readonly version: string;
  readonly transaction_hash: string;
};

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
    // The open block has a number but no hash.
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

/** Of one sender, or of all. */
export function readInvokes(transactions: readonly RpcTransaction[], sender?: bigint): SignedInvoke[] {
  return transactions.flatMap((given) => {
    if (given.type !== 'INVOKE' || BigInt(given.version) !== 3n) return [];
    if (sender !== undefined && BigInt(given.sender_address) !== sender) return [];
    const transaction: RawInvoke = {
      type: 'INVOKE',
      version: '0x3',
      sender_address: given.sender_address,
      calldata: given.calldata,
      signature: given.signature,
      nonce: given.nonce,
      resource_bounds: given.resource_bounds,
      tip: given.tip,
      paymaster_data: given.paymaster_data,
      account_deployment_data: given.account_deployment_data,
      nonce_data_availability_mode: given.nonce_data_availability_mode,
      fee_data_availability_mode: given.fee_data_availability_mode,
    };
    return [{ hash: BigInt(given.transaction_hash), transaction }];
  });
}

const optional = (felt: string | undefined) => (felt === undefined ? undefined : BigInt(felt));

const finalities: Readonly<Record<string, OnChainTxStatus>> = {
  RECEIVED: 'RECEIVED',
  CANDIDATE: 'PENDING',
  PRE_CONFIRMED: 'PENDING',
  ACCEPTED_ON_L2: 'ACCEPTED_ON_L2',
  ACCEPTED_ON_L1: 'ACCEPTED_ON_L1',
};

export const NOT_RECEIVED: TransactionStatus = { status: 'NOT_RECEIVED', accepted: false, revertReason: undefined };

export function toStatus(
  finality: string,
  execution: string | undefined,
  reason: string | undefined,
): TransactionStatus {
  const status = finalities[finality];
  if (status === undefined) throw new TypeError(`A node speaks of the finality ${finality}`);
  const accepted = status === 'ACCEPTED_ON_L2' || status === 'ACCEPTED_ON_L1';
  if (execution === 'REVERTED') return { status: 'REVERTED', accepted, revertReason: reason ?? '' };
  return { status, accepted, revertReason: undefined };
}

export const code = {
  contractNotFound: 20,
  blockNotFound: 24,
  classHashNotFound: 28,
  transactionNotFound: 29,
  duplicateTransaction: 59,
} as const;

/** Reasons are nested by the depth of calls. */
const MAX_DEPTH = 100;
const MAX_REASON_LENGTH = 2_000;

export const isRefusal = (error: unknown): error is RpcRefusal => error instanceof RpcRefusal;

export function isCode(error: unknown, wanted: number): boolean {
  return isRefusal(error) && error.code === wanted;
}

export function toRefusal(error: unknown): Refusal {
  if (!isRefusal(error)) throw error;
  return { ok: false, code: error.code, reason: readReason(error.message, error.data) };
}

export function readReason(message: string, data: unknown): string {
  const detail = innermost(data);
  const reason = detail === undefined ? message : `${message}: ${wordsOf(detail)}`;
  return reason.slice(0, MAX_REASON_LENGTH);
}

const FELT = /0x[0-9a-f]/i;

/** Nodes write the calls that led to a panic first and its felts last. The lines of calls end in a colon. */
function wordsOf(text: string): string {
  const lines = text.split('\n').map((line) => line.trim());
  const words = lines.findLast((line) => FELT.test(line) && !line.endsWith(':')) ?? text;
  return spellPanic(words);
}

/** Nodes wrap a revert's text into one object for every contract it came through. */
function innermost(data: unknown): string | undefined {
  let current = data;
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    if (typeof current === 'string') return current;
    if (typeof current !== 'object' || current === null) return undefined;
    const { revert_error, execution_error, error } = current as Record<string, unknown>;
    current = revert_error ?? execution_error ?? error;
  }
  return undefined;
}
