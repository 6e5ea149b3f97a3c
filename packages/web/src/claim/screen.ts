import type { RedeemChain } from '@svc/protocol';
import type { Claim } from '@svc/sdk';
import type { ClaimErrorCode } from './errors.ts';
import type { SavedRedeem } from './saved-redeem.ts';
import type { SavedWallet } from './saved-wallet.ts';

export type ValidClaim = Extract<Claim, { valid: true }>;
export type InvalidClaim = Extract<Claim, { valid: false }>;

export type Screen =
  | { readonly at: 'enterCode' | 'looking' }
  | { readonly at: 'gift' | 'chain' | 'newWallet'; readonly claim: ValidClaim }
  | { readonly at: 'making' | 'walletDone'; readonly wallet: SavedWallet }
  | { readonly at: 'address'; readonly claim: ValidClaim; readonly chain: RedeemChain; readonly text: string }
  | { readonly at: 'confirm'; readonly claim: ValidClaim; readonly chain: RedeemChain; readonly address: string }
  | { readonly at: 'sending' | 'done'; readonly redeem: SavedRedeem }
  | {
      readonly at: 'error';
      readonly errorCode: ClaimErrorCode;
      /** Set when the error occurred after the code was validated: the user can choose again. */
      readonly claim?: ValidClaim | undefined;
      readonly redeem?: SavedRedeem | undefined;
      /** Set when a wallet is being made: sending it again is safe. */
      readonly wallet?: SavedWallet | undefined;
      /** Of a code that exists but gives nothing now. */
      readonly about?: InvalidClaim | undefined;
    };

export const chainNames = { starknet: 'Starknet', solana: 'Solana' } as const satisfies Record<RedeemChain, string>;
