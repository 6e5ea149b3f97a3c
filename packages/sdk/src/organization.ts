import type { Chain, endpoints, Hold, LedgerEntry, Organization } from '@svc/protocol';
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
