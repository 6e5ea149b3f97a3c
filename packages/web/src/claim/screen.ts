import type { RedeemChain } from '@svc/protocol';
import type { Claim } from '@svc/sdk';
import type { Trouble } from './errors.ts';
import type { KeptRedeem } from './saved-redeem.ts';

export type ValidClaim = Extract<Claim, { valid: true }>;

/** What the page shows, with all that is known then. One thing at a time. */
export type Screen =
  | { readonly at: 'enterCode' | 'looking' }
  | { readonly at: 'gift' | 'chain'; readonly claim: ValidClaim }
  | { readonly at: 'address'; readonly claim: ValidClaim; readonly chain: RedeemChain; readonly text: string }
  | { readonly at: 'confirm'; readonly claim: ValidClaim; readonly chain: RedeemChain; readonly address: string }
  | { readonly at: 'sending' | 'done'; readonly redeem: KeptRedeem }
  | {
      readonly at: 'trouble';
      readonly trouble: Trouble;
      /** Where a person can go on from, when it was met on the way. */
      readonly claim?: ValidClaim | undefined;
      readonly redeem?: KeptRedeem | undefined;
    };

export const chainNames = { starknet: 'Starknet', solana: 'Solana' } as const satisfies Record<RedeemChain, string>;
