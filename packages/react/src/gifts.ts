'use client';
import { createGift, deleteGift, redeemGift, updateGift } from '@svc/sdk';
import { changeHook, readHook } from './factory.ts';
import { claimOptions, giftOptions, giftsOptions, redeemOptions } from './options.ts';

const GIFTS = { refreshes: ['gifts', 'gift', 'claim'] } as const;

/**
 * One page of the organisation's gifts. It holds their codes: for the organisation's own staff.
 *
 * @example
 * const { data } = useGifts({ isActive: true });
 */
export const useGifts = /* @__PURE__ */ readHook(giftsOptions);

/**
 * One gift.
 *
 * @example
 * const { data: gift } = useGift({ id });
 */
export const useGift = /* @__PURE__ */ readHook(giftOptions);

/**
 * Creates a gift code and holds its credits.
 *
 * @example
 * const createGift = useCreateGift();
 * createGift.mutate({ code, name: 'Spring', amount: '2.50', maxRedeems: 1, maxRedeemsPerUser: 1, startsAt, isActive: true });
 */
export const useCreateGift = /* @__PURE__ */ changeHook(createGift, GIFTS);

/**
 * Changes a gift's name, expiry or activity.
 *
 * @example
 * const updateGift = useUpdateGift();
 * updateGift.mutate({ id, isActive: false });
 */
export const useUpdateGift = /* @__PURE__ */ changeHook(updateGift, GIFTS);

/**
 * Deletes a gift and releases its credits.
 *
 * @example
 * const deleteGift = useDeleteGift();
 * deleteGift.mutate({ id });
 */
export const useDeleteGift = /* @__PURE__ */ changeHook(deleteGift, GIFTS);

/**
 * Whether a code can be redeemed, and what it gives. Needs no credentials.
 *
 * @example
 * const { data: claim } = useClaim({ code });
 */
export const useClaim = /* @__PURE__ */ readHook(claimOptions);

/**
 * Redeems a code to a wallet on Starknet or Solana. Needs no credentials.
 *
 * @example
 * const redeem = useRedeemGift();
 * redeem.mutate({ code, walletAddress: wallet.publicKey, chain: 'starknet' });
 */
export const useRedeemGift = /* @__PURE__ */ changeHook(redeemGift, {
  refreshes: ['claim', 'redeem', 'gifts', 'gift', 'balance', 'transactions', 'transactionPages'],
});

/**
 * A redeem. It is read again until it is `SUCCESS` or `FAILED`.
 *
 * @example
 * const { data } = useRedeemStatus({ code, redeemId });
 */
export const useRedeemStatus = /* @__PURE__ */ readHook(redeemOptions);
