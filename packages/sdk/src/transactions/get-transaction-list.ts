import type { endpoints, Transaction } from '@svc/protocol';
import type { BearerToken, Client } from '../client/client.ts';
import { type List, type Page, toList } from '../client/pages.ts';
import { request } from '../client/request.ts';

export interface TransactionFilters {
  /** Whose transactions, sent and received. */
  readonly walletAddress: string;
  /** Only calls of this function. */
  readonly calledFunction?: string | undefined;
  /** 1 to 31, with `month` and `year`. Days are UTC. */
  readonly day?: number | undefined;
  /** 1 to 12, with `year`. */
  readonly month?: number | undefined;
  readonly year?: number | undefined;
}

export interface GetTransactionListParams extends TransactionFilters {
  /** From 1 on. Default: 1. */
  readonly page?: number | undefined;
  /** Items on a page, at most 100. Default: 10. */
  readonly limit?: number | undefined;
}

/**
 * Reads one page of a wallet's transactions, newest first. `transactions` goes through all pages.
 *
 * @example
 * const { items, total } = await svc.getTransactionList({ walletAddress: wallet.publicKey, limit: 20 });
 */
export async function getTransactionList(
  client: Client,
  params: GetTransactionListParams,
  bearerToken?: BearerToken,
): Promise<List<Transaction>> {
  return toList(await readTransactionPage(client, params, bearerToken));
}

export function readTransactionPage(
  client: Client,
  params: GetTransactionListParams,
  bearerToken?: BearerToken,
): Promise<Page<Transaction>> {
  const { walletAddress, calledFunction, day, month, year, page, limit } = params;
  return request<typeof endpoints.listTransactions>(client, {
    route: 'GET /transactions/transaction-list',
    access: 'both',
    query: { walletAddress, calledFunction, day, month, year, page, limit },
    bearerToken,
  });
}
