import type { EvmAddress } from '@svc/protocol';
import type { NodeHealth } from '../nodes.ts';

export interface EvmTransfer {
  /** null is the chain's own coin. */
  readonly token: EvmAddress | null;
  readonly from: EvmAddress;
  readonly to: EvmAddress;
  /** In the smallest unit. */
  readonly amount: bigint;
  /**
   * The log's place in the receipt: its place in the block changes when a reorganisation moves the transaction. Null for the chain's
   * own coin, which a transaction moves once.
   */
  readonly logIndex: number | null;
}

export interface EvmReceipt {
  readonly transactionHash: string;
  readonly succeeded: boolean;
  readonly blockNumber: number;
  readonly blockHash: string;
  /** The block's time. */
  readonly timestamp: Date;
  /** What it moved: the coin by its own value, tokens by their Transfer logs. Nothing when it did not succeed. */
  readonly transfers: readonly EvmTransfer[];
}

/** An EVM chain as the service knows it. A `ChainUnavailableError` means that no node answered. */
export interface EvmChain {
  readonly chainId: number;
  /** Throws a `WrongChainError` for a node of another chain. */
  checkChain(): Promise<readonly NodeHealth[]>;
  blockNumber(): Promise<number>;
  /** Of a token, or of the chain's own coin (null), in the smallest unit. */
  balanceOf(token: EvmAddress | null, owner: EvmAddress): Promise<bigint>;
  /** Undefined where no token stands. */
  decimalsOf(token: EvmAddress): Promise<number | undefined>;
  /** Undefined while the transaction is in no block. */
  receipt(hash: string): Promise<EvmReceipt | undefined>;
}
