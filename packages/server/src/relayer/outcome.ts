import type { Environment } from '@svc/protocol';
import type { Db } from '@svc/store';
import type { Receipt } from '../chains/starknet/chain.ts';
import type { RelayKind } from './sponsor.ts';

/**
 * How a relay ended. `SUCCEEDED` and `REVERTED` are what the chain says of the transaction, `receipt` has its events. `VOIDED`: it
 * was not executed, and we will not try again.
 */
export interface RelayOutcome {
  readonly relayId: string;
  readonly kind: RelayKind;
  readonly environment: Environment;
  /** The wallet whose execution it is. */
  readonly account: bigint;
  readonly result: 'SUCCEEDED' | 'REVERTED' | 'VOIDED';
  /** Of the transaction that is on the chain; not the first one's when the fee had to be raised or somebody else was faster. */
  readonly hash: bigint | undefined;
  readonly revertReason: string | undefined;
  readonly receipt: Receipt | undefined;
  /** Of the block. */
  readonly confirmedAt: Date | undefined;
}

/**
 * Runs in the transaction that stores the outcome. It can come again: the same after a crash, and a different one after the chain
 * was reorganised, or when somebody else executed what had failed for us.
 */
export type OutcomeHandler = (tx: Db, outcome: RelayOutcome) => Promise<void>;
export type OutcomeHandlers = Readonly<Record<RelayKind, OutcomeHandler>>;
