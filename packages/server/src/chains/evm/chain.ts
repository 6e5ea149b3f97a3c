import type { EvmAddress } from '@svc/protocol';
import type { NodeHealth } from '../nodes.ts';

export interface EvmTransfer {
  readonly token: EvmAddress | null;
  readonly from: EvmAddress;
  readonly to: EvmAddress;
  readonly amount: bigint;
  /** Index in the receipt: the index in the block changes with a reorganisation. Null for the native coin. */
  readonly logIndex: number | null;
}

export interface EvmReceipt {
  readonly transactionHash: string;
  readonly succeeded: boolean;
  readonly blockNumber: number;
  readonly blockHash: string;
  readonly timestamp: Date;
  /** Empty when the transaction failed. */
  readonly transfers: readonly EvmTransfer[];
}

/** Every read throws a `ChainUnavailableError` when no node answers. */
export interface EvmChain {
  readonly chainId: number;
  checkChain(): Promise<readonly NodeHealth[]>;
  blockNumber(): Promise<number>;
  /** null: the native coin. In the smallest unit. */
  balanceOf(token: EvmAddress | null, owner: EvmAddress): Promise<bigint>;
  decimalsOf(token: EvmAddress): Promise<number | undefined>;
  receipt(hash: string): Promise<EvmReceipt | undefined>;
}
