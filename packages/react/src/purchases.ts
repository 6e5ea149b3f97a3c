'use client';
import { checkSkuReference, purchaseSku } from '@svc/sdk';
import { changeHook, ownerHook, readHook } from './factory.ts';
import { purchaseOptions, skuOptions, skusOptions } from './options.ts';

/**
 * One page of the SKUs on offer.
 *
 * @example
 * const { data } = useSkus({ category: 'RECARGAS' });
 */
export const useSkus = /* @__PURE__ */ readHook(skusOptions);

/**
 * One SKU.
 *
 * @example
 * const { data: sku } = useSku({ id: 'telcel-recarga-100' });
 */
export const useSku = /* @__PURE__ */ readHook(skuOptions);

/**
 * Checks a reference with the provider before anything is paid. `data.valid` says whether it is accepted.
 *
 * @example
 * const check = useCheckSkuReference();
 * check.mutate({ id: sku.id, reference: '5512345678' });
 */
export const useCheckSkuReference = /* @__PURE__ */ changeHook(checkSkuReference);

/**
 * Buys a SKU: pays from the wallet and records the purchase. Store the state of `onProgress`, and after a
 * `SvcPurchaseError` pass it as `resume`: nothing is paid twice. `data.id` goes to `usePurchase`.
 *
 * @example
 * const purchase = usePurchaseSku();
 * purchase.mutate({ wallet, skuId: sku.id, skuReference: '5512345678', onProgress: store });
 */
export const usePurchaseSku = /* @__PURE__ */ ownerHook(purchaseSku, {
  refreshes: ['balance', 'transactions', 'transactionPages', 'purchase'],
  settlesWith: ({ transactionHash }) => transactionHash,
});

/**
 * A purchase. It is read again until it is final.
 *
 * @example
 * const { data } = usePurchase(purchase.data ? { id: purchase.data.id } : skipToken);
 */
export const usePurchase = /* @__PURE__ */ readHook(purchaseOptions);
