import type { AnswerOf, BodyOf, endpoints, RefundStatus, Transaction, TxStatus } from '@svc/protocol';
import type { BearerToken, Client } from '../client/client.ts';
import { eachItem, type List, type Page, type PageOptions, toList } from '../client/pages.ts';
import { type PollOptions, pollUntil } from '../client/poll.ts';
import { request } from '../client/request.ts';

export type CreateSkuPurchaseParams = Readonly<BodyOf<typeof endpoints.createSkuPurchase>> & {
  /** Default: a new one. A payment buys once with any key. */
  readonly idempotencyKey?: string | undefined;
};

/**
 * Records a purchase for a payment made elsewhere; `purchaseSku` pays and records in one call. The same payment
 * returns the same purchase.
 *
 * @example
 * const recorded = await svc.createSkuPurchase({
 *   transactionHash,
 *   walletAddress: wallet.publicKey,
 *   skuId: 'telcel-recarga-100',
 *   skuReference: '5512345678',
 *   currencyAmount: 100,
 *   chain: 'STARKNET',
 *   token: 'USDC',
 * });
 */
export function createSkuPurchase(
  client: Client,
  { idempotencyKey, ...body }: CreateSkuPurchaseParams,
  bearerToken?: BearerToken,
): Promise<Transaction> {
  return request<typeof endpoints.createSkuPurchase>(client, {
    route: 'POST /sku-purchases',
    access: 'both',
    body,
    bearerToken,
    idempotencyKey,
  });
}

export interface GetSkuPurchaseParams {
  /** From `purchaseSku`. */
  readonly id: string;
}

/**
 * Reads a purchase. `skuFileNumber` is set with `SUCCESS`. `waitForPurchase` waits until it is final.
 *
 * @example
 * const { status, skuFileNumber } = await svc.getSkuPurchase({ id: purchase.id });
 */
export function getSkuPurchase(
  client: Client,
  { id }: GetSkuPurchaseParams,
  bearerToken?: BearerToken,
): Promise<Transaction> {
  return request<typeof endpoints.getSkuPurchase>(client, {
    route: 'GET /sku-purchases/{id}',
    access: 'both',
    params: { id },
    bearerToken,
  });
}

export interface SkuPurchaseFilters {
  readonly status?: TxStatus | undefined;
  /** `DUE`: refund pending. */
  readonly refundStatus?: RefundStatus | undefined;
}

export interface ListSkuPurchasesParams extends SkuPurchaseFilters {
  /** From 1 on. Default: 1. */
  readonly page?: number | undefined;
  /** Items on a page, at most 100. Default: 10. */
  readonly limit?: number | undefined;
}

/**
 * Reads one page of the purchases of all your users, newest first. `skuPurchases` iterates over all pages. Server
 * only: needs the secret key.
 *
 * @example
 * const { items, total } = await svc.listSkuPurchases({ status: 'PROCESSING' });
 */
export async function listSkuPurchases(
  client: Client,
  params: ListSkuPurchasesParams = {},
): Promise<List<Transaction>> {
  return toList(await readPurchasePage(client, params));
}

export interface SkuPurchasesParams extends SkuPurchaseFilters, PageOptions {}

/**
 * Iterates over the purchases of all your users, newest first. Pages are read on demand. Server only: needs the
 * secret key.
 *
 * @example
 * for await (const { id, failureReason } of svc.skuPurchases({ refundStatus: 'DUE' })) console.log(id, failureReason);
 */
export function skuPurchases(
  client: Client,
  params: SkuPurchasesParams = {},
): AsyncGenerator<Transaction, void, undefined> {
  const { status, refundStatus } = params;
  return eachItem((query) => readPurchasePage(client, { status, refundStatus, ...query }), params);
}

export type ProviderStatus = AnswerOf<typeof endpoints.getProviderStatus>;

/**
 * Reads whether the provider of services delivers: what waits for it, when it last completed and failed. Server only:
 * needs the secret key.
 *
 * @example
 * const { configured, pending, lastFailedAt } = await svc.getProviderStatus();
 */
export function getProviderStatus(client: Client): Promise<ProviderStatus> {
  return request<typeof endpoints.getProviderStatus>(client, {
    route: 'GET /organization/provider-status',
    access: 'secret',
  });
}

export interface CancelSkuPurchaseParams {
  readonly id: string;
}

/**
 * Cancels a purchase while it is `PENDING`: its provider is not called, and the payment is due for refund. Server
 * only: needs the secret key.
 *
 * @example
 * const { status, refundStatus } = await svc.cancelSkuPurchase({ id: purchase.id });
 */
export function cancelSkuPurchase(client: Client, { id }: CancelSkuPurchaseParams): Promise<Transaction> {
  return request<typeof endpoints.cancelSkuPurchase>(client, {
    route: 'POST /sku-purchases/{id}/cancel',
    access: 'secret',
    params: { id },
  });
}

export interface RefundSkuPurchaseParams {
  readonly id: string;
  /** Of your own transfer to the payer. It is verified, and nothing is sent. */
  readonly transactionHash?: string | undefined;
}

/**
 * Refunds the payment of a failed or cancelled purchase to its payer, at most once. `refundStatus` is `REFUNDING`
 * until the transfer is confirmed. Server only: needs the secret key.
 *
 * @example
 * const { refundStatus, refundTransactionHash } = await svc.refundSkuPurchase({ id: purchase.id });
 */
export function refundSkuPurchase(
  client: Client,
  { id, transactionHash }: RefundSkuPurchaseParams,
): Promise<Transaction> {
  return request<typeof endpoints.refundSkuPurchase>(client, {
    route: 'POST /sku-purchases/{id}/refund',
    access: 'secret',
    params: { id },
    body: { transactionHash },
  });
}

export interface WaitForPurchaseParams extends GetSkuPurchaseParams, PollOptions {}

const FINAL: readonly TxStatus[] = ['SUCCESS', 'FAILED', 'CANCELLED'];

/**
 * Waits until a purchase is `SUCCESS`, `FAILED` or `CANCELLED`; all three are results.
 *
 * @throws SvcConnectionError with code `timeout` if it is not final in time; it continues, so wait again
 * @example
 * const { status, skuFileNumber } = await svc.waitForPurchase({ id: purchase.id });
 */
export function waitForPurchase(
  client: Client,
  params: WaitForPurchaseParams,
  bearerToken?: BearerToken,
): Promise<Transaction> {
  const { id } = params;
  return pollUntil(client, params, {
    name: `Purchase ${id}`,
    read: () => getSkuPurchase(client, { id }, bearerToken),
    isFinal: ({ status }) => FINAL.includes(status),
  });
}

function readPurchasePage(client: Client, params: ListSkuPurchasesParams): Promise<Page<Transaction>> {
  const { status, refundStatus, page, limit } = params;
  return request<typeof endpoints.listSkuPurchases>(client, {
    route: 'GET /sku-purchases',
    access: 'secret',
    query: { status, refundStatus, page, limit },
  });
}
