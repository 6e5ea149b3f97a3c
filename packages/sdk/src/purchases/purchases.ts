import type { BodyOf, endpoints, RefundStatus, Transaction, TxStatus } from '@svc/protocol';
import type { BearerToken, Client } from '../client/client.ts';
import { eachItem, type List, type Page, type PageOptions, toList } from '../client/pages.ts';
import { type PollOptions, pollUntil } from '../client/poll.ts';
import { request } from '../client/request.ts';

export type CreateSkuPurchaseParams = Readonly<BodyOf<typeof endpoints.createSkuPurchase>> & {
  /** Default: a new one. A payment buys once whatever the key. */
  readonly idempotencyKey?: string | undefined;
};

/**
 * Records a purchase that was paid already. `purchaseSku` pays and records in one; this is for payments that were made in another way.
 * The same payment again answers the same purchase.
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
  /** Of the purchase, as `purchaseSku` answered it. */
  readonly id: string;
}

/**
 * Reads a purchase. `skuFileNumber` is there with `SUCCESS`. `waitForPurchase` waits for the end.
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
  /** `DUE`: what waits for a refund. */
  readonly refundStatus?: RefundStatus | undefined;
}

export interface ListSkuPurchasesParams extends SkuPurchaseFilters {
  /** From 1 on. Default: 1. */
  readonly page?: number | undefined;
  /** Items on a page, at most 100. Default: 10. */
  readonly limit?: number | undefined;
}

/**
 * Reads one page of the purchases of all your users, newest first. On a server only: needs the secret key. `skuPurchases` goes through
 * all pages.
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
 * Goes through the purchases of all your users, newest first, reading page after page as they are needed. On a server only: needs the
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
  return eachItem((asked) => readPurchasePage(client, { status, refundStatus, ...asked }), params);
}

export interface CancelSkuPurchaseParams {
  readonly id: string;
}

/**
 * Stops a purchase while it is `PENDING`: its provider is not called any more, and what was paid is due for refund. On a server only: needs
 * the secret key.
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
  /** Of a transfer to the payer that you made yourself. It is verified, and nothing is sent. */
  readonly transactionHash?: string | undefined;
}

/**
 * Gives the payment of a failed or cancelled purchase back to its payer, once however often it is asked. `refundStatus` is `REFUNDING`
 * until the transfer is confirmed. On a server only: needs the secret key.
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
 * Waits until a purchase is `SUCCESS`, `FAILED` or `CANCELLED`; all three are answers.
 *
 * @throws SvcConnectionError with code `timeout` when it is not final in time: it goes on, and can be waited for again
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
