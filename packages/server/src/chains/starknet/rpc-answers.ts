import { isObject, type OnChainTxStatus } from '@svc/protocol';
import { spellPanic } from '@svc/starknet';
import { RpcRefusal } from '../node-fetch.ts';
import type {
  Block,
  ChainEvent,
  EmittedEvent,
  Estimate,
  Head,
  RawInvoke,
  Receipt,
  Refusal,
  SignedInvoke,
  TransactionStatus,
} from './chain.ts';

/** An answer of another shape throws, which counts as the node's failure. Only the fields that we read are checked. */
export function fieldsOf(answer: unknown): Readonly<Record<string, unknown>> {
  if (isObject(answer)) return answer;
  throw new TypeError('An answer has no fields.');
}

export function listOf(answer: unknown): readonly unknown[] {
  if (Array.isArray(answer)) return answer;
  throw new TypeError('An answer is no list.');
}

export function readFelt(answer: unknown): bigint {
  return BigInt(readText(answer));
}

export function readNumber(answer: unknown): number {
  if (typeof answer === 'number' && Number.isSafeInteger(answer)) return answer;
  throw new TypeError('An answer is no whole number.');
}

function readText(answer: unknown): string {
  if (typeof answer === 'string') return answer;
  throw new TypeError('An answer is no text.');
}

/** Nodes leave out what is not there, or write null. */
const optional = <T>(read: (answer: unknown) => T, answer: unknown): T | undefined =>
  answer === undefined || answer === null ? undefined : read(answer);

function readEvent(answer: unknown): ChainEvent {
  const { from_address, keys, data } = fieldsOf(answer);
  return { from: readFelt(from_address), keys: listOf(keys).map(readFelt), data: listOf(data).map(readFelt) };
}

function readEmittedEvent(answer: unknown): EmittedEvent {
  const { transaction_hash, block_number, block_hash, event_index } = fieldsOf(answer);
  return {
    ...readEvent(answer),
    transactionHash: readFelt(transaction_hash),
    blockNumber: optional(readNumber, block_number),
    blockHash: optional(readFelt, block_hash),
    index: optional(readNumber, event_index),
  };
}

export function readEventPage(answer: unknown): { readonly events: EmittedEvent[]; readonly next: string | undefined } {
  const { events, continuation_token } = fieldsOf(answer);
  return { events: listOf(events).map(readEmittedEvent), next: optional(readText, continuation_token) };
}

export function readReceipt(answer: unknown): Receipt {
  const receipt = fieldsOf(answer);
  const blockHash = optional(readFelt, receipt.block_hash);
  return {
    transactionHash: readFelt(receipt.transaction_hash),
    ...readStatus(receipt, receipt.revert_reason),
    // The open block has a number but no hash.
    blockNumber: blockHash === undefined ? undefined : optional(readNumber, receipt.block_number),
    blockHash,
    fee: readFelt(fieldsOf(receipt.actual_fee).amount),
    events: listOf(receipt.events).map(readEvent),
  };
}

export function readTransactionStatus(answer: unknown): TransactionStatus {
  const status = fieldsOf(answer);
  return readStatus(status, status.failure_reason);
}

function readStatus(
  { finality_status, execution_status }: Readonly<Record<string, unknown>>,
  reason: unknown,
): TransactionStatus {
  return toStatus(readText(finality_status), optional(readText, execution_status), optional(readText, reason));
}

export function readEntrypoints(answer: unknown): ReadonlySet<bigint> {
  const { EXTERNAL } = fieldsOf(fieldsOf(answer).entry_points_by_type);
  return new Set(listOf(EXTERNAL).map((entrypoint) => readFelt(fieldsOf(entrypoint).selector)));
}

export function readHead(answer: unknown): Head {
  const { block_number, block_hash } = fieldsOf(answer);
  return { number: readNumber(block_number), hash: readFelt(block_hash) };
}

export function readBlock(answer: unknown): Block {
  const { parent_hash, timestamp, sequencer_address } = fieldsOf(answer);
  return {
    ...readHead(answer),
    parentHash: readFelt(parent_hash),
    timestamp: new Date(readNumber(timestamp) * 1_000),
    sequencer: optional(readFelt, sequencer_address),
  };
}

export function readEstimate(answer: unknown): Estimate {
  const estimate = fieldsOf(answer);
  const useOf = (gas: string) => ({
    amount: readFelt(estimate[`${gas}_consumed`]),
    price: readFelt(estimate[`${gas}_price`]),
  });
  return {
    ok: true,
    fee: readFelt(estimate.overall_fee),
    l1Gas: useOf('l1_gas'),
    l1DataGas: useOf('l1_data_gas'),
    l2Gas: useOf('l2_gas'),
  };
}

/** Of one sender, or of all. Those of other types and versions are left out. */
export function readInvokes(transactions: readonly unknown[], sender?: bigint): SignedInvoke[] {
  return transactions.flatMap((answer) => {
    const given = fieldsOf(answer);
    if (given.type !== 'INVOKE' || readFelt(given.version) !== 3n) return [];
    if (sender !== undefined && readFelt(given.sender_address) !== sender) return [];
    const textsOf = (field: unknown) => listOf(field).map(readText);
    const bounds = fieldsOf(given.resource_bounds);
    const transaction: RawInvoke = {
      type: 'INVOKE',
      version: '0x3',
      sender_address: readText(given.sender_address),
      calldata: textsOf(given.calldata),
      signature: textsOf(given.signature),
      nonce: readText(given.nonce),
      resource_bounds: {
        l1_gas: readBounds(bounds.l1_gas),
        l1_data_gas: readBounds(bounds.l1_data_gas),
        l2_gas: readBounds(bounds.l2_gas),
      },
      tip: readText(given.tip),
      paymaster_data: textsOf(given.paymaster_data),
      account_deployment_data: textsOf(given.account_deployment_data),
      nonce_data_availability_mode: readMode(given.nonce_data_availability_mode),
      fee_data_availability_mode: readMode(given.fee_data_availability_mode),
    };
    return [{ hash: readFelt(given.transaction_hash), transaction }];
  });
}

function readBounds(answer: unknown): RawInvoke['resource_bounds']['l1_gas'] {
  const { max_amount, max_price_per_unit } = fieldsOf(answer);
  return { max_amount: readText(max_amount), max_price_per_unit: readText(max_price_per_unit) };
}

function readMode(answer: unknown): 'L1' | 'L2' {
  if (answer === 'L1' || answer === 'L2') return answer;
  throw new TypeError('An answer is no data availability mode.');
}

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
    if (!isObject(current)) return undefined;
    const { revert_error, execution_error, error } = current;
    current = revert_error ?? execution_error ?? error;
  }
  return undefined;
}
