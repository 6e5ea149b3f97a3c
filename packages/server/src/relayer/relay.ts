import { randomBytes } from 'node:crypto';
import type { Environment } from '@svc/protocol';
import { ANY_CALLER, type Call, type OutsideExecution } from '@svc/starknet';
import type { Db } from '@svc/store';
import type { StarknetNetwork } from '../chains/networks.ts';
import { padAddress } from '../chains/starknet/chain.ts';

/** `STORED`: not accepted by a node yet. `SENT`: accepted at least once. Then final: by receipt, or `VOIDED` when never executed. */
export type RelayState = 'STORED' | 'SENT' | 'SUCCEEDED' | 'REVERTED' | 'VOIDED';

/** A final state returns to `SENT` after a reorganisation or an execution by a third party. */
export const nextStates: Readonly<Record<RelayState, readonly RelayState[]>> = {
  STORED: ['SENT', 'SUCCEEDED', 'REVERTED', 'VOIDED'],
  SENT: ['SUCCEEDED', 'REVERTED', 'VOIDED'],
  SUCCEEDED: ['SENT'],
  REVERTED: ['SENT'],
  VOIDED: ['SENT'],
};

export const isOpen = (state: RelayState): boolean => state === 'STORED' || state === 'SENT';

/** These execute what a wallet's owner signed; the wallet proves whether it ran. */
export const executesForOthers = (kind: Relay['kind']): boolean =>
  kind === 'wallet' || kind === 'upgrade' || isCalls(kind) || kind === 'sweep' || isOfTreasury(kind);

const isCalls = (kind: Relay['kind']): boolean => kind === 'calls' || kind === 'solana-transfer';

const isOfTreasury = (kind: Relay['kind']): boolean => kind === 'treasury' || kind === 'treasury-deployment';

/** These move the manager's own money. */
export const isPayment = (kind: Relay['kind']): boolean => kind === 'payout' || kind === 'burn' || kind === 'refund';

export interface Relay {
  readonly id: string;
  readonly environment: Environment;
  readonly chainId: bigint;
  readonly kind: RelayKind | 'gap';
  readonly purpose: string;
  readonly messageHash: bigint;
  readonly wallet: bigint;
  /** The wallet refuses the execution from then on; a filler takes its nonce. */
  readonly notAfter: Date;
  readonly state: RelayState;
  /** Of the included transaction, else the latest signed; undefined until a paymaster answers. */
  readonly hash: bigint | undefined;
  readonly blockNumber: number | undefined;
  readonly blockHash: bigint | undefined;
  readonly revertReason: string | undefined;
  readonly account: bigint | undefined;
  readonly nonce: bigint | undefined;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

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

export interface SponsoredUser {
  readonly organizationId: string;
  /** Undefined where the service acts for itself: that counts on no budget. */
  readonly externalUserId: string | undefined;
}

/** Of the private pool, paid by the sponsor in front of the execution. */
export interface PoolFee {
  readonly fri: bigint;
  readonly payment: Call;
}

export interface Sponsorship extends Omit<PrepareRequest, 'calls'> {
  readonly execution: OutsideExecution;
  readonly signature: readonly bigint[];
  readonly messageHash?: bigint;
  readonly kind: SponsoredKind;
  readonly user: SponsoredUser;
  readonly poolFee?: PoolFee | undefined;
}

/**
 * `sweep`: an account that the manager's key owns sends its money to the manager. `treasury`: a proposal that its signers approved;
 * `treasury-deployment` has no execution, so its signature is empty.
 */
export type SponsoredKind = 'wallet' | 'upgrade' | CallsKind | 'sweep' | 'treasury' | 'treasury-deployment';

/** `solana-transfer`: calls that burn what the bridge mints on Solana. */
export type CallsKind = 'calls' | 'solana-transfer';

export type RelayKind = SponsoredKind | 'payout' | 'burn' | 'refund';

export interface StoredRelay {
  readonly id: string;
  readonly hash: bigint | undefined;
}

export interface Relayed {
  readonly id: string;
  readonly hash: bigint;
}

export type StoreWithRelay = (tx: Db, relay: StoredRelay) => Promise<void>;

export interface Sponsor {
  prepare(request: PrepareRequest): Promise<OutsideExecution>;
  /**
   * Executes it once and answers when a node has accepted the transaction; a repeated call answers the first one, without `store`.
   * `ApiError`s: `transaction_reverted`, `fee_too_high` and `sponsorship_limit_reached` (nothing stored), `invalid_typed_data` (nonce
   * used for another message), `chain_unavailable` (the message says whether it is stored).
   */
  sponsor(sponsorship: Sponsorship, store: StoreWithRelay): Promise<Relayed>;
}

const BEFORE_NOW_SECONDS = 60n;
/** Together one hour, the widest window. */
const AFTER_NOW_SECONDS = 3_540n;
const NONCE_BYTES = 31;

export const randomNonce = (): bigint => BigInt(`0x${randomBytes(NONCE_BYTES).toString('hex')}`);

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

/** Idempotency key: a wallet executes a nonce once. */
export const outsidePurpose = (wallet: bigint, nonce: bigint): string =>
  `outside ${padAddress(wallet)} 0x${nonce.toString(16)}`;
