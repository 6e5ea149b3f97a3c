import type { AnswerOf, endpoints, QueryOf, Sku } from '@svc/protocol';
import type { BearerToken, Client } from './client/client.ts';
import { eachItem, type List, type Page, type PageOptions, toList } from './client/pages.ts';
import { request } from './client/request.ts';

export interface SkuFilters {
  readonly category?: QueryOf<typeof endpoints.listSkus>['category'] | undefined;
  readonly provider?: string | undefined;
}

export interface ListSkusParams extends SkuFilters {
  /** From 1 on. Default: 1. */
  readonly page?: number | undefined;
  /** Items on a page, at most 100. Default: 10. */
  readonly limit?: number | undefined;
  /** Items to skip; overrides `page`. */
  readonly offset?: number | undefined;
}

/**
 * Reads one page of the SKUs on offer. `skus` iterates over all pages.
 *
 * @example
 * const { items, total } = await svc.listSkus({ category: 'LUZ' });
 */
export async function listSkus(
  client: Client,
  params: ListSkusParams = {},
  bearerToken?: BearerToken,
): Promise<List<Sku>> {
  return toList(await readSkuPage(client, params, bearerToken));
}

export interface SkusParams extends SkuFilters, PageOptions {}

/**
 * Iterates over all SKUs on offer. Pages are read on demand.
 *
 * @example
 * for await (const sku of svc.skus({ category: 'STREAMING' })) console.log(sku.name, sku.fixedAmount);
 */
export function skus(
  client: Client,
  params: SkusParams = {},
  bearerToken?: BearerToken,
): AsyncGenerator<Sku, void, undefined> {
  const { category, provider } = params;
  return eachItem((query) => readSkuPage(client, { category, provider, ...query }, bearerToken), params);
}

export interface GetSkuParams {
  readonly id: string;
}

/**
 * Reads one SKU.
 *
 * @example
 * const { name, referenceLabel } = await svc.getSku({ id: 'cfe-recibo-hogar' });
 */
export function getSku(client: Client, { id }: GetSkuParams, bearerToken?: BearerToken): Promise<Sku> {
  return request<typeof endpoints.getSku>(client, {
    route: 'GET /skus/{id}',
    access: 'both',
    params: { id },
    bearerToken,
  });
}

export interface CheckSkuReferenceParams {
  /** Of a SKU with `canCheckSkuReference`. */
  readonly id: string;
  /** For example a phone or account number. */
  readonly reference: string;
}

/** `reason` is set when `valid` is false. */
export type ReferenceChecked = AnswerOf<typeof endpoints.checkSkuReference>;

/**
 * Checks a reference with the provider before anything is paid.
 *
 * @example
 * const { valid, reason } = await svc.checkSkuReference({ id: 'cfe-recibo-hogar', reference: '012345678901' });
 */
export function checkSkuReference(
  client: Client,
  { id, reference }: CheckSkuReferenceParams,
  bearerToken?: BearerToken,
): Promise<ReferenceChecked> {
  return request<typeof endpoints.checkSkuReference>(client, {
    route: 'POST /skus/{id}/check-reference',
    access: 'both',
    params: { id },
    body: { reference },
    bearerToken,
  });
}

function readSkuPage(
  client: Client,
  { category, provider, page, limit, offset }: ListSkusParams,
  bearerToken?: BearerToken,
): Promise<Page<Sku>> {
  return request<typeof endpoints.listSkus>(client, {
    route: 'GET /skus',
    access: 'both',
    query: { category, provider, page, limit, offset },
    bearerToken,
  });
}
