import type { Environment } from '@svc/protocol';
import type { Db, Reads } from '@svc/store';
import type { Transfer } from '../chains/starknet/chain.ts';
import type { Token } from '../chains/tokens.ts';

export interface WatchedTransfer extends Transfer {
  readonly known: Token;
  readonly transactionHash: bigint;
  readonly blockNumber: number;
  readonly blockHash: bigint;
}

export interface BlockRange {
  readonly environment: Environment;
  readonly chainId: string;
  readonly after: number;
  readonly upTo?: number;
  readonly at: Date;
}

/** Follows transfers to addresses that are no wallets. */
export interface TransferWatcher {
  /** With addresses to watch, the first run reads recent blocks, too. */
  hasAddresses(reads: Reads, environment: Environment): Promise<boolean>;
  watchedAmong(
    reads: Reads,
    environment: Environment,
    transfers: readonly WatchedTransfer[],
  ): Promise<ReadonlySet<bigint>>;
  /** Gets every transfer to watched addresses in the blocks of the range. Runs in the transaction that moves the cursor. */
  storeTransfers(tx: Db, range: BlockRange, transfers: readonly WatchedTransfer[]): Promise<void>;
  /** The blocks of the range are gone. Runs in the transaction that moves the cursor back. */
  rewind(tx: Db, range: BlockRange): Promise<void>;
  settle(environment: Environment): Promise<void>;
}
