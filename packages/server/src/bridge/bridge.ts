import type { Environment, SolanaAddress } from '@svc/protocol';
import type { Call } from '@svc/starknet';

/** What is to be burned on Starknet and minted on Solana, in USDC's smallest unit. */
export interface BurnOrder {
  readonly amount: bigint;
  /** The most that the bridge may keep of the amount. */
  readonly maxFee: bigint;
  /** Whose wallet receives it. */
  readonly owner: SolanaAddress;
  readonly fast: boolean;
}

/** An order whose transaction is on the chain. */
export interface Burn {
  readonly hash: string;
  /** The account that burned. */
  readonly sender: bigint;
  readonly order: BurnOrder;
}

/** How far the bridge has come with minting on Solana; undefined where it does not say. */
export type ForwardState = 'PENDING' | 'CONFIRMED' | 'COMPLETE' | 'FAILED' | undefined;

export interface Attested {
  readonly state: 'ATTESTED';
  readonly nonce: string;
  /** Checked: it says what was ordered. */
  readonly message: string;
  readonly attestation: string;
  /** What the bridge kept. */
  readonly feeExecuted: bigint;
  readonly forwardState: ForwardState;
  /** The mint on Solana, once it is known. */
  readonly receiveHash: string | undefined;
}

/**
 * `UNSEEN`: the bridge does not know of the burn yet. `PENDING`: it does, and waits. `WRONG`: what it shows is not what was
 * ordered, and must not be trusted.
 */
export type BridgeProgress =
  | { readonly state: 'UNSEEN' }
  | { readonly state: 'PENDING' }
  | { readonly state: 'WRONG'; readonly reason: string }
  | Attested;

/**
 * The way of USDC from Starknet to Solana. Everything that asks the bridge throws an `ApiError`: `chain_unavailable` when it does not
 * answer, `chain_not_configured` where the environment has none.
 */
export interface Bridge {
  /** Whether the environment has one. */
  serves(environment: Environment): boolean;
  /** The most that the bridge may take of one transfer, with a margin for days to come; never nothing. */
  feeCeiling(environment: Environment, amount: bigint, fast: boolean): Promise<bigint>;
  /** What it would take at present of so much burned. */
  fee(environment: Environment, burned: bigint, fast: boolean): Promise<bigint>;
  burnCalls(environment: Environment, order: BurnOrder): Call[];
  /** How far a burn has come. Asking changes nothing, so it can be repeated at will. */
  progress(environment: Environment, burn: Burn): Promise<BridgeProgress>;
  /** Has a message attested anew. A message is minted once, however often it is attested. */
  reattest(environment: Environment, nonce: string): Promise<void>;
}
