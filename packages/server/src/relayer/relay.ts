import { randomBytes } from 'node:crypto';
import type { Environment } from '@svc/protocol';
import { ANY_CALLER, type Call, type OutsideExecution } from '@svc/starknet';
import type { Db } from '@svc/store';
import type { StarknetNetwork } from '../chains/networks.ts';
import { padAddress } from '../chains/starknet/chain.ts';

/**
 * `STORED`: no node has said yet that it has it. `SENT`: a node has it, or had it. The others are ends: what the chain says of the
 * transaction, or `VOIDED` when it was never executed and never will be.
 */
export type RelayState = 'STORED' | 'SENT' | 'SUCCEEDED' | 'REVERTED' | 'VOIDED';

/** Which state may follow which. From an end the way leads back when the chain was reorganised, or somebody else executed it. */
export const nextStates: Readonly<Record<RelayState, readonly RelayState[]>> = {
  STORED: ['SENT', 'SUCCEEDED', 'REVERTED', 'VOIDED'],
  SENT: ['SUCCEEDED', 'REVERTED', 'VOIDED'],
  SUCCEEDED: ['SENT'],
  REVERTED: ['SENT'],
  VOIDED: ['SENT'],
};

export const isOpen = (state: RelayState): boolean => state === 'STORED' || state === 'SENT';

/** Of these an account executes what somebody else signed, and that can be told from the wallet; the others are its own. */
export const executesForOthers = (kind: Relay['kind']): boolean =>
  kind === 'wallet' || kind === 'upgrade' || kind === 'calls';

export interface Relay {
  readonly id: string;
  readonly environment: Environment;
  readonly chainId: bigint;
  /** `gap`: nobody's, it only uses up a nonce that was lost. */
  readonly kind: RelayKind | 'gap';
  readonly purpose: string;
  readonly messageHash: bigint;
  /** Whose execution it is. */
  readonly wallet: bigint;
  /** After this the wallet refuses the execution, and only its nonce is still used up. */
  readonly notAfter: Date;
  readonly state: RelayState;
  /** The transaction on the chain, or the one that was signed last; undefined until a paymaster tells it. */
  readonly hash: bigint | undefined;
  readonly blockNumber: number | undefined;
  readonly blockHash: bigint | undefined;
  readonly revertReason: string | undefined;
  /** Of our own accounts; undefined where a paymaster sends. */
  readonly account: bigint | undefined;
  readonly nonce: bigint | undefined;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

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

/** For a chain whose clock is behind. */
const BEFORE_NOW_SECONDS = 60n;
/** With the above, exactly the hour that is the widest window. */
const AFTER_NOW_SECONDS = 3_540n;
/** As many whole bytes as a felt has room for. */
const NONCE_BYTES = 31;

export const randomNonce = (): bigint => BigInt(`0x${randomBytes(NONCE_BYTES).toString('hex')}`);

/** What an account's owner is asked to sign. */
export async function prepareExecution(
  network: Pick<StarknetNetwork, 'time'>,
  calls: readonly Call[],
  random: () => bigint,
): Promise<OutsideExecution> {
  const seconds = BigInt(Math.floor((await network.time()).getTime() / 1_000));
  return {
    caller: ANY_CALLER,
    nonce: random(),
    executeAfter: seconds - BEFORE_NOW_SECONDS,
    executeBefore: seconds + AFTER_NOW_SECONDS,
    calls,
  };
}

/** What must not happen twice: an outside execution is known by its wallet and its nonce. */
export const outsidePurpose = (wallet: bigint, nonce: bigint): string =>
  `outside ${padAddress(wallet)} 0x${nonce.toString(16)}`;
