import { endpoint } from '../endpoint.ts';
import * as schema from '../schemas/purchase.ts';
import { Transaction } from '../schemas/transaction.ts';

const tag = 'SKU purchases';

export const createSkuPurchase = endpoint({
  operationId: 'createSkuPurchase',
  method: 'POST',
  path: '/sku-purchases',
  tag,
  summary: 'Record a purchase that was paid on the chain',
  description:
    'A payment buys once: the same body again answers the same purchase. Payments are made on STARKNET, in USDC, USDC_E, USDT or DAI, and recorded within ten minutes: of the prices in that time before the recording, the lowest less one percent must be paid.',
  access: 'both',
  body: schema.CreateSkuPurchase,
  answers: { 200: Transaction },
  errors: [
    'invalid_request',
    'invalid_reference',
    'invalid_amount',
    'payment_too_small',
    'token_not_supported',
    'transaction_already_used',
    'transaction_mismatch',
    'transaction_reverted',
    { code: 'transaction_not_found', status: 400 },
    'unsupported_chain',
    'chain_not_configured',
    'provider_not_configured',
    'sku_not_found',
    'wallet_not_found',
    'rate_unavailable',
    'chain_unavailable',
  ],
});

export const getSkuPurchase = endpoint({
  operationId: 'getSkuPurchase',
  method: 'GET',
  path: '/sku-purchases/{id}',
  tag,
  summary: 'Read a purchase, to check its status',
  access: 'both',
  params: schema.PurchaseParams,
  answers: { 200: Transaction },
  errors: ['purchase_not_found'],
});

export const listSkuPurchases = endpoint({
  operationId: 'listSkuPurchases',
  method: 'GET',
  path: '/sku-purchases',
  tag,
  summary: 'List your purchases, newest first',
  access: 'secret',
  query: schema.PurchaseListQuery,
  answers: { 200: schema.PurchasePage },
  errors: ['invalid_request'],
});

export const getProviderStatus = endpoint({
  operationId: 'getProviderStatus',
  method: 'GET',
  path: '/organization/provider-status',
  tag,
  summary: 'See whether the provider of services delivers',
  access: 'secret',
  answers: { 200: schema.ProviderStatus },
});

export const cancelSkuPurchase = endpoint({
  operationId: 'cancelSkuPurchase',
  method: 'POST',
  path: '/sku-purchases/{id}/cancel',
  tag,
  summary: 'Stop a purchase before its provider is called',
  description: 'Possible while it is PENDING. A payment that arrived is then due for refund.',
  access: 'secret',
  params: schema.PurchaseParams,
  answers: { 200: Transaction },
  errors: ['purchase_not_found', 'purchase_not_cancellable'],
});

export const refundSkuPurchase = endpoint({
  operationId: 'refundSkuPurchase',
  method: 'POST',
  path: '/sku-purchases/{id}/refund',
  tag,
  summary: 'Give the payment of a failed or cancelled purchase back',
  description:
    'The manager account sends the token and amount that were paid back to the payer, once. With transactionHash nothing is sent: the transfer that you made yourself is verified and recorded.',
  access: 'secret',
  params: schema.PurchaseParams,
  body: schema.RefundSkuPurchase,
  answers: { 200: Transaction },
  errors: [
    'invalid_request',
    'purchase_not_found',
    'purchase_not_refundable',
    'refund_failed',
    'transaction_already_used',
    'transaction_mismatch',
    'transaction_reverted',
    { code: 'transaction_not_found', status: 400 },
    'chain_not_configured',
    'chain_unavailable',
  ],
});
