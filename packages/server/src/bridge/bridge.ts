import type { Environment, SolanaAddress } from '@svc/protocol';
import type { Call } from '@svc/starknet';

/** In USDC's smallest unit. */
export interface BurnOrder {
  readonly amount: bigint;
  readonly maxFee: bigint;
  readonly owner: SolanaAddress;
  readonly fast: boolean;
}

export interface Burn {
  readonly hash: string;
  readonly sender: bigint;
  readonly order: BurnOrder;
}

export type ForwardState = 'PENDING' | 'CONFIRMED' | 'COMPLETE' | 'FAILED' | undefined;

export interface Attested {
  readonly state: 'ATTESTED';
  readonly nonce: string;
  readonly message: string;
  readonly attestation: string;
  readonly feeExecuted: bigint;
  readonly forwardState: ForwardState;
  readonly receiveHash: string | undefined;
}

/** `UNSEEN`: the bridge does not know the burn yet. `WRONG`: the message differs from the order. */
export type BridgeProgress =
  | { readonly state: 'UNSEEN' }
  | { readonly state: 'PENDING' }
  | { readonly state: 'WRONG'; readonly reason: string }
  | Attested;

/** A mint that the bridge reports, and what it must have done. */
export interface ReportedMint {
  readonly signature: string;
  readonly nonce: string;
  readonly owner: SolanaAddress;
  readonly amount: bigint;
}

export type MintCheck =
  | { readonly credited: true }
  /** The reason completes "The bridge says that X minted it, but". */
  | { readonly credited: false; readonly reason: string };

/** Throws `chain_unavailable` when the bridge does not answer, `chain_not_configured` where there is none. */
export interface Bridge {
  serves(environment: Environment): boolean;
  /** The USDC of Solana. */
  usdcMint(environment: Environment): SolanaAddress;
  /** With a margin for days to come; never zero. */
  feeCeiling(environment: Environment, amount: bigint, fast: boolean): Promise<bigint>;
  fee(environment: Environment, burned: bigint, fast: boolean): Promise<bigint>;
  burnCalls(environment: Environment, order: BurnOrder): Call[];
  progress(environment: Environment, burn: Burn): Promise<BridgeProgress>;
  /** Safe to repeat: a message is minted once. */
  reattest(environment: Environment, nonce: string): Promise<void>;
  /** Undefined where no node of Solana is configured: the bridge's word is all there is. */
  checkMint(environment: Environment, mint: ReportedMint): Promise<MintCheck | undefined>;
}
