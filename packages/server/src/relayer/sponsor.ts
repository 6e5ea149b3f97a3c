import type { Environment } from '@svc/protocol';
import type { Call, OutsideExecution } from '@svc/starknet';
import type { Db } from '@svc/store';

/** An account that is deployed in the same transaction, before its execution runs. */
export interface AccountDeployment {
  readonly classHash: bigint;
  readonly salt: bigint;
  readonly constructorCalldata: readonly bigint[];
}

export interface PrepareRequest {
  readonly environment: Environment;
  readonly account: bigint;
  readonly deployment: AccountDeployment | undefined;
  readonly calls: readonly Call[];
}

/** An outside execution that its account has signed, checked already, for which we pay. */
export interface Sponsorship extends Omit<PrepareRequest, 'calls'> {
  readonly execution: OutsideExecution;
  readonly signature: readonly bigint[];
  /** Of the execution, where whoever checked it has computed it already. */
  readonly messageHash?: bigint;
  /** Who is told of the outcome. */
  readonly kind: SponsoredKind;
}

export type SponsoredKind = 'wallet' | 'upgrade' | 'calls';

/** `payout`, `burn` and `refund` are transactions of the manager's own. */
export type RelayKind = SponsoredKind | 'payout' | 'burn' | 'refund';

export interface StoredRelay {
  readonly id: string;
  /** Undefined where somebody else makes the transaction and tells its hash later. */
  readonly hash: bigint | undefined;
}

export interface Relayed {
  readonly id: string;
  readonly hash: bigint;
}

/** Stores what belongs to a relay, in the transaction that stores the relay itself. */
export type StoreWithRelay = (tx: Db, relay: StoredRelay) => Promise<void>;

/** Pays gas: relayer accounts of our own, or a paymaster elsewhere. */
export interface Sponsor {
  /** The outside execution that the account's owner is asked to sign: a random nonce, a window of at most an hour. */
  prepare(request: PrepareRequest): Promise<OutsideExecution>;
  /**
   * Has it executed, once: the same execution again answers the first transaction, without `store`. Answers when the chain has
   * taken the transaction. Refusals are `ApiError`s: `transaction_reverted` (it would revert; nothing was stored),
   * `fee_too_high` (it would cost more than is paid for; nothing was stored), `invalid_typed_data` (its nonce was used for another
   * message), `chain_unavailable` (stored, but not taken yet, where the message says so).
   */
  sponsor(sponsorship: Sponsorship, store: StoreWithRelay): Promise<Relayed>;
}
