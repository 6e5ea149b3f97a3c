'use client';
import { type CallAnyContractParams, callAnyContract, transfer } from '@svc/sdk';
import { type SkipToken, skipToken, useInfiniteQuery } from '@tanstack/react-query';
import { type ChangeHook, type OwnerChange, ownerHook, readHook } from './factory.ts';
import {
  receiptOptions,
  type TransactionPagesParams,
  transactionOptions,
  transactionPagesOptions,
  transactionStatusOptions,
  transactionsOptions,
  usdAmountOptions,
} from './options.ts';
import { useSvcContext } from './provider.ts';

/** What a transaction of a wallet changes. */
const MOVED = ['balance', 'transactions', 'transactionPages'] as const;
const byHash = (hash: string) => hash;

/**
 * Sends tokens; the service pays the gas. `data` is the transaction's hash. Balances and lists are read again when it
 * is accepted.
 *
 * After a `SvcConnectionError` the tokens may have been sent: show the transactions before offering to repeat.
 *
 * @example
 * const transfer = useTransfer();
 * transfer.mutate({ wallet, amount: '2.50', token: 'USDC', recipient });
 */
export const useTransfer = /* @__PURE__ */ ownerHook(transfer, { refreshes: MOVED, settlesWith: byHash });

/**
 * Executes calls in one transaction; the service pays the gas. `data` is the transaction's hash.
 *
 * @example
 * const call = useCall();
 * call.mutate({ wallet, calls: [{ contractAddress, entrypoint: 'approve', calldata: [spender, '1000000', '0'] }] });
 */
export const useCall: ChangeHook<OwnerChange<CallAnyContractParams>, string> = /* @__PURE__ */ ownerHook(
  callAnyContract,
  {
    refreshes: MOVED,
    settlesWith: byHash,
  },
);

/**
 * One page of a wallet's transactions, newest first.
 *
 * @example
 * const { data } = useTransactions({ walletAddress: wallet.publicKey, limit: 20 });
 */
export const useTransactions = /* @__PURE__ */ readHook(transactionsOptions);

/**
 * A wallet's transactions page by page.
 *
 * @example
 * const { data, fetchNextPage, hasNextPage } = useTransactionPages({ walletAddress: wallet.publicKey });
 * const items = data?.pages.flatMap((page) => page.items);
 */
export function useTransactionPages(params: TransactionPagesParams | SkipToken) {
  const { client } = useSvcContext();
  const isKnown = params !== skipToken;
  return useInfiniteQuery({
    ...transactionPagesOptions(client, isKnown ? params : { walletAddress: '' }),
    enabled: isKnown,
  });
}

/**
 * One transaction of the history, by hash or id. It is read again until it is final.
 *
 * @example
 * const { data } = useTransaction({ hashOrId: hash });
 */
export const useTransaction = /* @__PURE__ */ readHook(transactionOptions);

/**
 * The status of a transaction on the chain. It is read again until the chain has accepted or rejected it.
 *
 * @example
 * const { data } = useTransactionStatus(transfer.data ? { hash: transfer.data } : skipToken);
 */
export const useTransactionStatus = /* @__PURE__ */ readHook(transactionStatusOptions);

/**
 * The receipt of a transaction, once it is accepted or reverted.
 *
 * @example
 * const { data: receipt, isFetching } = useReceipt(transfer.data ? { hash: transfer.data } : skipToken);
 */
export const useReceipt = /* @__PURE__ */ readHook(receiptOptions);

/**
 * An amount of another currency in dollars, at the current rate.
 *
 * @example
 * const { data: usd } = useUsdAmount({ currencyAmount: 185, currency: 'MXN' });
 */
export const useUsdAmount = /* @__PURE__ */ readHook(usdAmountOptions);
