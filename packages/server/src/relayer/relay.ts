import type { Environment } from '@svc/protocol';
import type { RelayKind } from './sponsor.ts';

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
