import type { Transaction } from '@svc/protocol';
import type { BearerToken, Client } from '../client/client.ts';
import { eachItem, type PageOptions } from '../client/pages.ts';
import { readTransactionPage, type TransactionFilters } from './get-transaction-list.ts';

export interface TransactionsParams extends TransactionFilters, PageOptions {}

/**
 * Goes through all of a wallet's transactions, newest first, reading page after page as they are needed.
 *
 * @example
 * for await (const transaction of svc.transactions({ walletAddress: wallet.publicKey, year: 2026 })) {
 *   console.log(transaction.type, transaction.amount);
 * }
 */
export function transactions(
  client: Client,
  params: TransactionsParams,
  bearerToken?: BearerToken,
): AsyncGenerator<Transaction, void, undefined> {
  return eachItem((asked) => readTransactionPage(client, { ...params, ...asked }, bearerToken), params);
}
