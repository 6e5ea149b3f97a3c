import { chainIds, toHex } from '@svc/starknet';
import type { Database, Reads } from '@svc/store';
import type { Head } from '../chain/head.ts';
import { type Block, type BlockId, openBlock } from '../chain/queries.ts';
import type { RecentBlocks } from '../chain/recent-blocks.ts';
import type { StateCache } from '../chain/state.ts';
import { FieldError, readFelt, readInteger, readObject } from '../chain/transaction.ts';
import type { Writer } from '../chain/writer.ts';
import { predeployed } from '../contracts/predeployed.ts';
import type { BlockContext } from '../execution/types.ts';

export interface NodeDeps {
  readonly db: Database;
  /** As it is after this call. */
  readonly readHead: () => Promise<Head>;
  readonly cache: StateCache;
  readonly blocks: RecentBlocks;
  readonly writer: Writer;
  /** Unix milliseconds. */
  readonly now: () => number;
}

export interface CallContext extends NodeDeps {
  readonly head: Head;
  readonly spec: SpecVersion;
  /** For short queries; long ones go to `db`. */
  readonly reads: Reads;
  /** Fault `forget`: acknowledge the transaction, then drop it. */
  readonly dropTransaction: boolean;
}

export type SpecVersion = '0.9.0' | '0.10.0';

export interface Method {
  /** In order, for positional parameters. */
  readonly params: readonly string[];
  run(context: CallContext, params: Readonly<Record<string, unknown>>): Promise<unknown>;
}

export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export function showError(error: RpcError): { code: number; message: string; data?: unknown } {
  return { code: error.code, message: error.message, ...(error.data !== undefined && { data: error.data }) };
}

export const rpcErrors = {
  parse: () => new RpcError(-32700, 'Parse error'),
  invalidRequest: (data?: string) => new RpcError(-32600, 'Invalid Request', data),
  methodNotFound: () => new RpcError(-32601, 'Method not found'),
  invalidParams: (data: string) => new RpcError(-32602, 'Invalid params', data),
  internal: (data?: string) => new RpcError(-32603, 'Internal error', data),
  noTrace: (status: string) => new RpcError(10, 'No trace available for transaction', { status }),
  contractNotFound: () => new RpcError(20, 'Contract not found'),
  entrypointNotFound: () => new RpcError(21, 'Requested entrypoint does not exist in the contract'),
  blockNotFound: () => new RpcError(24, 'Block not found'),
  invalidTransactionIndex: () => new RpcError(27, 'Invalid transaction index in a block'),
  classHashNotFound: () => new RpcError(28, 'Class hash not found'),
  transactionNotFound: () => new RpcError(29, 'Transaction hash not found'),
  pageSizeTooBig: () => new RpcError(31, 'Requested page size is too big'),
  invalidContinuationToken: () => new RpcError(33, 'The supplied continuation token is invalid or unknown'),
  tooManyKeys: () => new RpcError(34, 'Too many keys provided in a filter'),
  contractError: (revertError: unknown) => new RpcError(40, 'Contract error', { revert_error: revertError }),
  executionError: (index: number, error: unknown) =>
    new RpcError(41, 'Transaction execution error', { transaction_index: index, execution_error: error }),
  classAlreadyDeclared: () => new RpcError(51, 'Class already declared'),
  invalidNonce: (data: string) => new RpcError(52, 'Invalid transaction nonce', data),
  insufficientResources: () =>
    new RpcError(53, "The transaction's resources don't cover validation or the minimal transaction fee"),
  insufficientBalance: () =>
    new RpcError(
      54,
      "Account balance is smaller than the transaction's maximal fee (calculated as the sum of each resource's limit x max price)",
    ),
  validationFailure: (data: string) => new RpcError(55, 'Account validation failed', data),
  compilationFailed: (data: string) => new RpcError(56, 'Compilation failed', data),
  nonAccount: () => new RpcError(58, 'Sender address is not an account contract'),
  duplicateTransaction: () => new RpcError(59, 'A transaction with the same hash already exists in the mempool'),
  unsupportedVersion: () => new RpcError(61, 'The transaction version is not supported'),
  unexpected: (data: string) => new RpcError(63, 'An unexpected error occurred', data),
  underpriced: () => new RpcError(64, 'Replacement transaction is underpriced'),
} as const;

/** PostgreSQL integer. */
const MAX_NUMBER = 2 ** 31 - 1;

export function readBlockId(value: unknown, name = 'block_id'): BlockId {
  if (value === 'latest' || value === 'pre_confirmed' || value === 'l1_accepted') return value;
  if (typeof value === 'string')
    throw new FieldError(`${name} must be latest, pre_confirmed, l1_accepted or an object`);
  const { block_hash, block_number } = readObject(value, name);
  if ((block_hash === undefined) === (block_number === undefined)) {
    throw new FieldError(`${name} must have either block_hash or block_number`);
  }
  if (block_hash !== undefined) return { hash: toHex(readFelt(block_hash, `${name}.block_hash`)) };
  const number = readInteger(block_number, `${name}.block_number`, 0, Number.MAX_SAFE_INTEGER);
  return { number: Math.min(number, MAX_NUMBER) };
}

export async function blockOf(context: CallContext, value: unknown, name?: string): Promise<Block> {
  const { blocks, reads, head, now } = context;
  const block = await blocks.block(reads, head, readBlockId(value, name), now());
  if (!block) throw rpcErrors.blockNotFound();
  return block;
}

/** With instant blocks the latest block may be hours old, unlike on a live chain, so a call on it sees the current time. */
export function callBlock(context: CallContext, block: Block): BlockContext {
  const present = context.head.blockSeconds === 0 && block.number === context.head.number;
  return contextOf(block.number, present ? openBlock(context.head, context.now()).timestamp : block.timestamp);
}

/** On the latest block, an estimate sees the next one. */
export function estimationBlock(context: CallContext, block: Block): BlockContext {
  if (block.number < context.head.number) return contextOf(block.number, block.timestamp);
  const next = openBlock(context.head, context.now());
  return contextOf(next.number, next.timestamp);
}

export function contextOf(number: number, timestamp: number): BlockContext {
  return {
    number: BigInt(number),
    timestamp: BigInt(timestamp),
    sequencer: predeployed.sequencer.address,
    chainId: chainIds.SVC_SANDBOX,
  };
}
