// Options of every query, for `useQuery`, `prefetchQuery`, `fetchQuery` and `useSuspenseQuery`. Nothing here needs React,
// so server components and loaders import it from `@svc/react/options`.
import {
  type ClaimGiftParams,
  type Client,
  type CursorParams,
  claimGift,
  type GetGiftParams,
  type GetRedeemStatusParams,
  type GetSessionDataParams,
  type GetSkuParams,
  type GetSkuPurchaseParams,
  type GetSpendingPolicyParams,
  type GetTokenBalanceParams,
  type GetTransactionListParams,
  type GetTransactionParams,
  type GetTransactionStatusParams,
  type GetUsdAmountParams,
  type GetWalletParams,
  getConfig,
  getGift,
  getRedeemStatus,
  getSessionData,
  getSku,
  getSkuPurchase,
  getSpendingPolicy,
  getTokenBalance,
  getTransaction,
  getTransactionList,
  getTransactionStatus,
  getTreasury,
  getTreasuryProposal,
  getUsdAmount,
  getWallet,
  type ListGiftsParams,
  type ListSkusParams,
  type ListTreasuryProposalsParams,
  listGifts,
  listSkus,
  listTreasuries,
  listTreasuryProposals,
  type ProposalPlaceParams,
  type ProposalState,
  SvcApiError,
  type TransactionFilters,
  type TreasuryIdParams,
  waitForTransaction,
} from '@svc/sdk';
import type { DataTag, UseQueryOptions } from '@tanstack/react-query';
import type { Resource, SvcKey } from './keys.ts';
import { type WithoutSecrets, withoutSecrets } from './secrets.ts';

/** Between two reads of something that is not final yet. */
const POLL_MS = 2_000;

type Settings<T> = Pick<UseQueryOptions<T, Error, T, SvcKey>, 'refetchInterval' | 'staleTime'>;

/** Options of one query. `queryKey` is typed: `getQueryData` knows what is stored under it. */
export interface ReadOptions<R extends Resource, P, T> extends Settings<T> {
  readonly queryKey: DataTag<SvcKey<R, P>, T, Error>;
  readonly queryFn: (context: { readonly signal: AbortSignal }) => Promise<T>;
  /** The SDK retries what can be retried. */
  readonly retry: false;
}

interface Query<R extends Resource, P, T> extends Settings<T> {
  readonly client: Client;
  readonly resource: R;
  readonly params: P;
  readonly read: (signal: AbortSignal) => Promise<T>;
}

function options<R extends Resource, P, T>(query: Query<R, P, T>): ReadOptions<R, P, T> {
  const { client, resource, params, read, ...settings } = query;
  const queryKey = ['svc', client.publicKey, resource, params] as const;
  return {
    ...settings,
    queryKey: queryKey as typeof queryKey & ReadOptions<R, P, T>['queryKey'],
    queryFn: ({ signal }) => read(signal),
    retry: false,
  };
}

const pollUntil =
  <T>(isFinal: (value: T) => boolean) =>
  ({ state }: { readonly state: { readonly data: T | undefined; readonly status: string } }) =>
    state.status === 'error' || (state.data !== undefined && isFinal(state.data)) ? false : POLL_MS;

/** A wallet as the cache holds it: without its encrypted private key. */
export type CachedWallet = WithoutSecrets<Awaited<ReturnType<typeof getWallet>>>;

/**
 * A user's newest wallet, or null for a user without one.
 *
 * @example
 * await queryClient.prefetchQuery(walletOptions(client, { externalUserId: 'ana' }));
 */
export const walletOptions = (client: Client, params: GetWalletParams) =>
  options({
    client,
    resource: 'wallet',
    params,
    read: async (): Promise<CachedWallet | null> => {
      try {
        return withoutSecrets(await getWallet(client, params));
      } catch (error) {
        if (error instanceof SvcApiError && error.code === 'wallet_not_found') return null;
        throw error;
      }
    },
  });

/** The balance of one token. */
export const balanceOptions = (client: Client, params: GetTokenBalanceParams) =>
  options({ client, resource: 'balance', params, read: () => getTokenBalance(client, params) });

/** One page of a wallet's transactions. */
export const transactionsOptions = (client: Client, params: GetTransactionListParams) =>
  options({ client, resource: 'transactions', params, read: () => getTransactionList(client, params) });

export interface TransactionPagesParams extends TransactionFilters {
  /** Items on a page, at most 100. Default: 10. */
  readonly limit?: number | undefined;
}

/** A wallet's transactions page by page, for `useInfiniteQuery`. */
export const transactionPagesOptions = (client: Client, params: TransactionPagesParams) => ({
  queryKey: ['svc', client.publicKey, 'transactionPages', params] as const,
  queryFn: ({ pageParam }: { readonly pageParam: number }) =>
    getTransactionList(client, { ...params, page: pageParam }),
  initialPageParam: 1,
  getNextPageParam: ({ page, limit, total }: { page: number; limit: number; total: number }) =>
    page * limit < total ? page + 1 : undefined,
  retry: false as const,
});

/** One transaction of the history; read again until it is final. */
export const transactionOptions = (client: Client, params: GetTransactionParams) =>
  options({
    client,
    resource: 'transaction',
    params,
    read: () => getTransaction(client, params),
    refetchInterval: pollUntil(isFinalStatus),
  });

const OPEN_ON_CHAIN: readonly string[] = ['RECEIVED', 'PENDING'];

/** The status on the chain; read again until the transaction is accepted or rejected. */
export const transactionStatusOptions = (client: Client, params: GetTransactionStatusParams) =>
  options({
    client,
    resource: 'transactionStatus',
    params,
    read: () => getTransactionStatus(client, params),
    refetchInterval: pollUntil<Awaited<ReturnType<typeof getTransactionStatus>>>(
      ({ status }) => !OPEN_ON_CHAIN.includes(status),
    ),
  });

/** The receipt, once a transaction is accepted or reverted: `data.success` says which. It never changes. */
export const receiptOptions = (client: Client, params: GetTransactionStatusParams) =>
  options({
    client,
    resource: 'receipt',
    params,
    read: (signal) => waitForReceipt(client, params.hash, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });

export async function waitForReceipt(client: Client, hash: string, signal?: AbortSignal) {
  const { rpcUrl } = await getConfig(client);
  const { fetch, runtime } = client;
  return waitForTransaction(hash, {
    nodeUrl: [...client.nodeUrls, rpcUrl],
    retryIntervalMs: POLL_MS / 4,
    ...{ fetch, runtime, signal },
  });
}

/** What a session key may still do. */
export const sessionOptions = (client: Client, params: GetSessionDataParams) =>
  options({ client, resource: 'session', params, read: () => getSessionData(client, params) });

/** A session key's limit for a token. Amounts are bigint: a cache that is stored as JSON must leave it out. */
export const spendingPolicyOptions = (client: Client, params: GetSpendingPolicyParams) =>
  options({ client, resource: 'spendingPolicy', params, read: () => getSpendingPolicy(client, params) });

/** One page of the SKUs on offer. */
export const skusOptions = (client: Client, params: ListSkusParams = {}) =>
  options({ client, resource: 'skus', params, read: () => listSkus(client, params) });

export const skuOptions = (client: Client, params: GetSkuParams) =>
  options({ client, resource: 'sku', params, read: () => getSku(client, params) });

/** A purchase; read again until it is final. */
export const purchaseOptions = (client: Client, params: GetSkuPurchaseParams) =>
  options({
    client,
    resource: 'purchase',
    params,
    read: () => getSkuPurchase(client, params),
    refetchInterval: pollUntil(isFinalStatus),
  });

/** One page of the organisation's gifts, with their codes. */
export const giftsOptions = (client: Client, params: ListGiftsParams = {}) =>
  options({ client, resource: 'gifts', params, read: () => listGifts(client, params) });

export const giftOptions = (client: Client, params: GetGiftParams) =>
  options({ client, resource: 'gift', params, read: () => getGift(client, params) });

/** Whether a code can be redeemed, and what it gives. */
export const claimOptions = (client: Client, params: ClaimGiftParams) =>
  options({ client, resource: 'claim', params, read: () => claimGift(client, params) });

/** A redeem; read again until it is `SUCCESS` or `FAILED`. */
export const redeemOptions = (client: Client, params: GetRedeemStatusParams) =>
  options({
    client,
    resource: 'redeem',
    params,
    read: () => getRedeemStatus(client, params),
    refetchInterval: pollUntil(isFinalStatus),
  });

/** Treasuries of the organisation. */
export const treasuriesOptions = (client: Client, params: CursorParams = {}) =>
  options({ client, resource: 'treasuries', params, read: () => listTreasuries(client, params) });

export const treasuryOptions = (client: Client, params: TreasuryIdParams) =>
  options({ client, resource: 'treasury', params, read: () => getTreasury(client, params) });

export const treasuryProposalsOptions = (client: Client, params: ListTreasuryProposalsParams) =>
  options({ client, resource: 'treasuryProposals', params, read: () => listTreasuryProposals(client, params) });

const ENDED: readonly ProposalState[] = ['EXECUTED', 'FAILED', 'EXPIRED', 'CANCELLED'];

/** A proposal; read again until it has ended. */
export const treasuryProposalOptions = (client: Client, params: ProposalPlaceParams) =>
  options({
    client,
    resource: 'treasuryProposal',
    params,
    read: () => getTreasuryProposal(client, params),
    refetchInterval: ({ state: { data } }) => (data && ENDED.includes(data.state) ? false : POLL_MS),
  });

/** An amount in dollars at the current rate. */
export const usdAmountOptions = (client: Client, params: GetUsdAmountParams) =>
  options({ client, resource: 'usdAmount', params, read: () => getUsdAmount(client, params) });

/** The network, its tokens and wallet classes. */
export const configOptions = (client: Client) =>
  options({ client, resource: 'config', params: undefined, read: () => getConfig(client) });

function isFinalStatus({ status }: { readonly status: string }): boolean {
  return status === 'SUCCESS' || status === 'FAILED' || status === 'CANCELLED';
}
