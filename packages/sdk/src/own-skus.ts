import type { AnswerOf, Currency, endpoints, OfferedSku, SkuCategory } from '@svc/protocol';
import type { Client } from './client/client.ts';
import { SvcInputError } from './client/errors.ts';
import { eachItem, type List, type Page, type PageOptions, toList } from './client/pages.ts';
import { request } from './client/request.ts';

export interface OwnSkuFields {
  /** The provider from which your fulfilment service orders it. */
  readonly providerId: string;
  readonly name: string;
  readonly category: SkuCategory;
  /** References must match this pattern, in RE2 syntax. */
  readonly referenceRegexValidation: string;
  readonly referenceLabel: string;
  /** Amounts must match this pattern, `fixedAmount` too. */
  readonly amountRegexValidation: string;
  readonly amountLabel: string;
  readonly currency: Currency;
  readonly canCheckSkuReference: boolean;
}

export interface CreateOwnSkuParams extends OwnSkuFields {
  /** At most 31 printable ASCII characters, at least one letter. */
  readonly id: string;
  readonly description?: string | undefined;
  /** Omitted: the buyer chooses the amount. */
  readonly fixedAmount?: number | undefined;
  /** An https URL. */
  readonly logoUrl?: string | undefined;
  /** Default: true. */
  readonly isOffered?: boolean | undefined;
}

/**
 * Adds a SKU of your own to those that your users see. Server only: needs the secret key.
 *
 * @example
 * const sku = await svc.settings.createOwnSku({
 *   id: 'agua-recibo',
 *   providerId: 'agua-centro',
 *   name: 'Agua: pago de recibo',
 *   category: 'GENERAL',
 *   referenceRegexValidation: '^[0-9]{12}$',
 *   referenceLabel: 'Número de cuenta a 12 dígitos',
 *   amountRegexValidation: '^[1-9][0-9]{1,3}$',
 *   amountLabel: 'Importe del recibo',
 *   currency: 'MXN',
 *   canCheckSkuReference: true,
 * });
 */
export function createOwnSku(client: Client, params: CreateOwnSkuParams): Promise<OfferedSku> {
  return request<typeof endpoints.createOwnSku>(client, {
    route: 'POST /organization/skus',
    access: 'secret',
    body: params,
  });
}

type Changes = { readonly [Name in keyof OwnSkuFields]?: OwnSkuFields[Name] | undefined };

export interface UpdateOwnSkuParams extends Changes {
  readonly id: string;
  /** null removes it, as in the next two fields. */
  readonly description?: string | null | undefined;
  readonly fixedAmount?: number | null | undefined;
  readonly logoUrl?: string | null | undefined;
  /** Whether your users see it and can buy it. The only field that can be changed of the deployment's SKUs. */
  readonly isOffered?: boolean | undefined;
}

/**
 * Changes a SKU of your own, or whether a SKU is offered. Omitted fields and past purchases stay. Server only: needs
 * the secret key.
 *
 * @example
 * await svc.settings.updateOwnSku({ id: ownSku.id, name: 'Agua del Centro' });
 * await svc.settings.updateOwnSku({ id: 'viapass-recarga', isOffered: false });
 */
export async function updateOwnSku(client: Client, { id, ...changes }: UpdateOwnSkuParams): Promise<OfferedSku> {
  if (Object.values(changes).every((value) => value === undefined)) {
    throw new SvcInputError('invalid_input', 'Pass what is to change: nothing would.');
  }
  return await request<typeof endpoints.updateOwnSku>(client, {
    route: 'PATCH /organization/skus/{id}',
    access: 'secret',
    params: { id },
    body: changes,
  });
}

export interface DeleteOwnSkuParams {
  readonly id: string;
}

export type OwnSkuDeleted = AnswerOf<typeof endpoints.deleteOwnSku>;

/**
 * Deletes a SKU of your own. Its purchases stay. Server only: needs the secret key.
 *
 * @example
 * await svc.settings.deleteOwnSku({ id: ownSku.id });
 */
export function deleteOwnSku(client: Client, { id }: DeleteOwnSkuParams): Promise<OwnSkuDeleted> {
  return request<typeof endpoints.deleteOwnSku>(client, {
    route: 'DELETE /organization/skus/{id}',
    access: 'secret',
    params: { id },
  });
}

export interface ListOfferedSkusParams {
  /** From 1 on. Default: 1. */
  readonly page?: number | undefined;
  /** Items on a page, at most 100. Default: 10. */
  readonly limit?: number | undefined;
}

/**
 * Reads one page of the deployment's SKUs and your own, offered or not. `offeredSkus` iterates over all pages. Server
 * only: needs the secret key.
 *
 * @example
 * const { items } = await svc.settings.listOfferedSkus({ limit: 50 });
 */
export async function listOfferedSkus(client: Client, params: ListOfferedSkusParams = {}): Promise<List<OfferedSku>> {
  return toList(await readOfferedSkuPage(client, params));
}

/**
 * Iterates over the deployment's SKUs and your own, offered or not. Server only: needs the secret key.
 *
 * @example
 * for await (const { id, isOwn, isOffered } of svc.settings.offeredSkus()) console.log(id, isOwn, isOffered);
 */
export function offeredSkus(client: Client, params: PageOptions = {}): AsyncGenerator<OfferedSku, void, undefined> {
  return eachItem((query) => readOfferedSkuPage(client, query), params);
}

function readOfferedSkuPage(client: Client, params: ListOfferedSkusParams): Promise<Page<OfferedSku>> {
  const { page, limit } = params;
  return request<typeof endpoints.listOfferedSkus>(client, {
    route: 'GET /organization/skus',
    access: 'secret',
    query: { page, limit },
  });
}
