import type {
  Chain,
  endpoints,
  Hold,
  LedgerEntry,
  LoggedRequest,
  Organization,
  Overview,
  OverviewRange,
  StatusClass,
} from '@svc/protocol';
import type { Client } from './client/client.ts';
import {
  type CursorList,
  type CursorPage,
  type CursorParams,
  eachByCursor,
  eachItem,
  type List,
  type Page,
  type PageOptions,
  toCursorList,
  toList,
} from './client/pages.ts';
import { request } from './client/request.ts';

/**
 * Reads your organisation, its credits and its deposit address: USDC that arrives there is credited by itself. Server
 * only: needs the secret key.
 *
 * @example
 * const { name, balance, depositAddress } = await svc.getOrganization();
 */
export function getOrganization(client: Client): Promise<Organization> {
  return request<typeof endpoints.getOrganization>(client, { route: 'GET /organization', access: 'secret' });
}

export interface ListLedgerParams {
  /** From 1 on. Default: 1. */
  readonly page?: number | undefined;
  /** Items on a page, at most 100. Default: 10. */
  readonly limit?: number | undefined;
}

/**
 * Reads one page of the changes of your credits, newest first. `ledger` iterates over all pages. Server only: needs
 * the secret key.
 *
 * @example
 * const { items } = await svc.listLedger({ limit: 50 });
 */
export async function listLedger(client: Client, params: ListLedgerParams = {}): Promise<List<LedgerEntry>> {
  return toList(await readLedgerPage(client, params));
}

/**
 * Iterates over all changes of your credits, newest first. Server only: needs the secret key.
 *
 * @example
 * for await (const { type, amountUsd } of svc.ledger()) console.log(type, amountUsd);
 */
export function ledger(client: Client, params: PageOptions = {}): AsyncGenerator<LedgerEntry, void, undefined> {
  return eachItem((query) => readLedgerPage(client, query), params);
}

/**
 * Reads a part of what your credits are held for, newest first. `holds` iterates over all. Server only: needs the
 * secret key.
 *
 * @example
 * const { items, nextCursor } = await svc.listHolds({ limit: 50 });
 */
export async function listHolds(client: Client, params: CursorParams = {}): Promise<CursorList<Hold>> {
  return toCursorList(await readHolds(client, params));
}

/**
 * Iterates over all that your credits are held for, newest first. Server only: needs the secret key.
 *
 * @example
 * for await (const { giftName, heldUsd } of svc.holds()) console.log(giftName, heldUsd);
 */
export function holds(client: Client, params: PageOptions = {}): AsyncGenerator<Hold, void, undefined> {
  return eachByCursor((query) => readHolds(client, query), params);
}

export interface CreateDepositParams {
  /** Of a USDC transfer to the `depositAddress` of `getOrganization`. */
  readonly transactionHash: string;
  readonly chain: Chain;
}

/**
 * Turns a USDC transfer to your deposit address into credits at once. Without it that happens within seconds. Server
 * only: needs the secret key.
 *
 * @example
 * const { depositAddress } = await svc.getOrganization();
 * const paid = await svc.transfer({ encryptKey, wallet, amount: '10', token: 'USDC', recipient: depositAddress });
 * await svc.waitForTransaction(paid);
 * const { amountUsd } = await svc.createDeposit({ transactionHash: paid, chain: 'STARKNET' });
 */
export function createDeposit(client: Client, { transactionHash, chain }: CreateDepositParams): Promise<LedgerEntry> {
  return request<typeof endpoints.createDeposit>(client, {
    route: 'POST /organization/deposits',
    access: 'secret',
    body: { transactionHash, chain },
  });
}

function readLedgerPage(client: Client, { page, limit }: ListLedgerParams): Promise<Page<LedgerEntry>> {
  return request<typeof endpoints.listLedger>(client, {
    route: 'GET /organization/ledger',
    access: 'secret',
    query: { page, limit },
  });
}

function readHolds(client: Client, { limit, cursor }: CursorParams): Promise<CursorPage<Hold>> {
  return request<typeof endpoints.listHolds>(client, {
    route: 'GET /organization/holds',
    access: 'secret',
    query: { limit, cursor },
  });
}

export interface GetOverviewParams {
  /** Default: `24h`. */
  readonly range?: OverviewRange | undefined;
}

/**
 * Reads what happened in your environment in the last 24 hours, 7 or 30 days, with a series for charts. Server only:
 * needs the secret key.
 *
 * @example
 * const { totals, series, checklist } = await svc.getOverview({ range: '7d' });
 */
export function getOverview(client: Client, { range }: GetOverviewParams = {}): Promise<Overview> {
  return request<typeof endpoints.getOverview>(client, {
    route: 'GET /organization/overview',
    access: 'secret',
    query: { range },
  });
}

export interface RequestFilters {
  readonly status?: StatusClass | undefined;
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE' | undefined;
  /** A pattern: `/gifts/{id}`. */
  readonly path?: string | undefined;
  readonly errorCode?: string | undefined;
  /** `requestId` of an error, or the header `x-request-id` of an answer. */
  readonly requestId?: string | undefined;
}

export interface ListRequestsParams extends RequestFilters, CursorParams {}

/**
 * Reads your requests of the last 7 days, newest first. `requests` iterates over all of them. Server only: needs the
 * secret key.
 *
 * @example
 * const { items } = await svc.listRequests({ status: '4xx', path: '/gifts' });
 */
export async function listRequests(
  client: Client,
  params: ListRequestsParams = {},
): Promise<CursorList<LoggedRequest>> {
  return toCursorList(await readRequests(client, params));
}

export interface RequestsParams extends RequestFilters, PageOptions {}

/**
 * Iterates over your requests of the last 7 days, newest first. Server only: needs the secret key.
 *
 * @example
 * for await (const { path, status } of svc.requests({ method: 'POST' })) console.log(path, status);
 */
export function requests(client: Client, params: RequestsParams = {}): AsyncGenerator<LoggedRequest, void, undefined> {
  return eachByCursor((query) => readRequests(client, { ...params, ...query }), params);
}

function readRequests(client: Client, params: ListRequestsParams): Promise<CursorPage<LoggedRequest>> {
  const { status, method, path, errorCode, requestId, limit, cursor } = params;
  return request<typeof endpoints.listRequests>(client, {
    route: 'GET /organization/requests',
    access: 'secret',
    query: { status, method, path, errorCode, requestId, limit, cursor },
  });
}
