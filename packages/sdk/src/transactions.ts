import type {
  AnswerOf,
  Chain,
  ChainToken,
  endpoints,
  Transaction,
  TransactionDetails,
  TxStatus,
  TxType,
} from '@svc/protocol';
import type { BearerToken, Client } from './client/client.ts';
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

export interface GetTransactionParams {
  /** The hash on the chain, or the service's id. */
  readonly hashOrId: string;
}

/**
 * Reads one transaction of the history.
 *
 * @example
 * const { status, amount } = await svc.getTransaction({ hashOrId: transactionHash });
 */
export function getTransaction(
  client: Client,
  { hashOrId }: GetTransactionParams,
  bearerToken?: BearerToken,
): Promise<Transaction> {
  return request<typeof endpoints.getTransaction>(client, {
    route: 'GET /transactions/{hashOrId}',
    access: 'both',
    params: { hashOrId },
    bearerToken,
  });
}

export interface TransactionFilters {
  /** Sender or recipient. */
  readonly walletAddress: string;
  /** Only calls of this function. */
  readonly calledFunction?: string | undefined;
  /** 1 to 31, with `month` and `year`, in UTC. */
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
 * Reads one page of a wallet's transactions, newest first. `transactions` iterates over all pages.
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

export interface GetTransactionStatusParams {
  readonly hash: string;
}

/** `revertReason` is set when `status` is `REVERTED`. */
export type TransactionStatus = AnswerOf<typeof endpoints.getTransactionStatus>;

/**
 * Reads the current status of a transaction on the chain. `waitForTransaction` waits until it is final.
 *
 * @example
 * const { status, blockNumber } = await svc.getTransactionStatus({ hash: transactionHash });
 */
export function getTransactionStatus(
  client: Client,
  { hash }: GetTransactionStatusParams,
  bearerToken?: BearerToken,
): Promise<TransactionStatus> {
  return request<typeof endpoints.getTransactionStatus>(client, {
    route: 'GET /transactions/{hash}/status',
    access: 'both',
    params: { hash },
    bearerToken,
  });
}

export interface RecordSendParams {
  readonly transactionHash: string;
  readonly expectedSender: string;
  readonly expectedRecipient: string;
  readonly expectedToken: ChainToken;
  /** In whole tokens, exact: `'1.5'`. */
  readonly expectedAmount: string;
  readonly chain: Chain;
}

/**
 * Records a transfer that was executed elsewhere. The service verifies it on the chain. Recording it again returns
 * the same record.
 *
 * @example
 * const { status } = await svc.recordSend({
 *   transactionHash,
 *   expectedSender: wallet.publicKey,
 *   expectedRecipient: recipient,
 *   expectedToken: 'USDC',
 *   expectedAmount: '1.5',
 *   chain: 'STARKNET',
 * });
 */
export function recordSend(client: Client, params: RecordSendParams, bearerToken?: BearerToken): Promise<Transaction> {
  const { transactionHash, expectedSender, expectedRecipient, expectedToken, expectedAmount, chain } = params;
  return request<typeof endpoints.recordSend>(client, {
    route: 'POST /transactions/record-send',
    access: 'both',
    body: { transactionHash, expectedSender, expectedRecipient, expectedToken, expectedAmount, chain },
    bearerToken,
  });
}

export interface SyncOnChainParams {
  readonly walletAddress: string;
}

/** `synced`: transfers added to the history; `total`: transfers on the chain. */
export type SyncedOnChain = AnswerOf<typeof endpoints.syncOnChain>;

/**
 * Adds a wallet's transfers on the chain that the history lacks, for example those from before the service knew the
 * wallet.
 *
 * @example
 * const { synced, total } = await svc.syncOnChain({ walletAddress: wallet.publicKey });
 */
export function syncOnChain(
  client: Client,
  { walletAddress }: SyncOnChainParams,
  bearerToken?: BearerToken,
): Promise<SyncedOnChain> {
  return request<typeof endpoints.syncOnChain>(client, {
    route: 'POST /transactions/sync-on-chain',
    access: 'both',
    body: { walletAddress },
    bearerToken,
  });
}

export interface TransactionsParams extends TransactionFilters, PageOptions {}

/**
 * Iterates over all transactions of a wallet, newest first. Pages are read on demand.
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
  return eachItem((query) => readTransactionPage(client, { ...params, ...query }, bearerToken), params);
}

function readTransactionPage(
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

export interface EnvironmentTransactionFilters {
  /** A hash or an id. */
  readonly search?: string | undefined;
  readonly type?: TxType | undefined;
  readonly status?: TxStatus | undefined;
  readonly token?: ChainToken | undefined;
  /** Sender or recipient. */
  readonly walletAddress?: string | undefined;
  /** Sender or recipient is a wallet of this user. */
  readonly externalUserId?: string | undefined;
  /** Purchases of this service. */
  readonly skuId?: string | undefined;
  /** ISO 8601: created at this time or later. */
  readonly createdAfter?: string | undefined;
  readonly createdBefore?: string | undefined;
}

export interface ListEnvironmentTransactionsParams extends EnvironmentTransactionFilters, CursorParams {}

/**
 * Reads transactions of all wallets of your environment, newest first. `environmentTransactions` iterates over all of
 * them. Server only: needs the secret key.
 *
 * @example
 * const { items, nextCursor } = await svc.listEnvironmentTransactions({ type: 'SEND', status: 'SUCCESS' });
 */
export async function listEnvironmentTransactions(
  client: Client,
  params: ListEnvironmentTransactionsParams = {},
): Promise<CursorList<Transaction>> {
  return toCursorList(await readEnvironmentTransactions(client, params));
}

export interface EnvironmentTransactionsParams extends EnvironmentTransactionFilters, PageOptions {}

/**
 * Iterates over the transactions of all wallets of your environment, newest first. Server only: needs the secret key.
 *
 * @example
 * for await (const { transactionHash } of svc.environmentTransactions({ token: 'USDC' })) console.log(transactionHash);
 */
export function environmentTransactions(
  client: Client,
  params: EnvironmentTransactionsParams = {},
): AsyncGenerator<Transaction, void, undefined> {
  return eachByCursor((query) => readEnvironmentTransactions(client, { ...params, ...query }), params);
}

function readEnvironmentTransactions(
  client: Client,
  params: ListEnvironmentTransactionsParams,
): Promise<CursorPage<Transaction>> {
  const { search, type, status, token, walletAddress, externalUserId, skuId, createdAfter, createdBefore } = params;
  const filters = { search, type, status, token, walletAddress, externalUserId, skuId, createdAfter, createdBefore };
  return request<typeof endpoints.listEnvironmentTransactions>(client, {
    route: 'GET /transactions',
    access: 'secret',
    query: { ...filters, limit: params.limit, cursor: params.cursor },
  });
}

/**
 * Reads what a transaction did: calls, events, fee, revert reason, and the attempts to execute it. Server only: needs
 * the secret key.
 *
 * @example
 * const { calls, fee, relay } = await svc.getTransactionDetails({ hashOrId: transactionHash });
 */
export function getTransactionDetails(client: Client, { hashOrId }: GetTransactionParams): Promise<TransactionDetails> {
  return request<typeof endpoints.getTransactionDetails>(client, {
    route: 'GET /transactions/{hashOrId}/details',
    access: 'secret',
    params: { hashOrId },
  });
}
