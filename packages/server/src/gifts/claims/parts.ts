import type { Environment } from '@svc/protocol';
import type { Database } from '@svc/store';
import type { Networks } from '../../chains/networks.ts';
import type { CodeLookup } from './code-lookup.ts';
import type { RedeemWaiters } from './redeem-waiters.ts';

export interface ClaimParts {
  readonly db: Database;
  readonly networks: Pick<Networks, 'starknet' | 'tokens'>;
  /** The account that pays redemptions out; `chain_not_configured` where there is none. */
  readonly manager: (environment: Environment) => bigint;
  /** Whether there is a bridge to Solana. */
  readonly canBridge: (environment: Environment) => boolean;
  readonly codes: CodeLookup;
  readonly waiters: RedeemWaiters;
  readonly now?: () => number;
}
