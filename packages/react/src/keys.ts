import type { Client } from '@svc/sdk';

/** What the cache holds, by name. */
export type Resource =
  | 'balance'
  | 'claim'
  | 'config'
  | 'gift'
  | 'gifts'
  | 'privateAddress'
  | 'privateBalance'
  | 'privateHistory'
  | 'privateTerms'
  | 'purchase'
  | 'receipt'
  | 'redeem'
  | 'session'
  | 'skipped'
  | 'sku'
  | 'skus'
  | 'spendingPolicy'
  | 'transaction'
  | 'transactionPages'
  | 'transactionStatus'
  | 'transactions'
  | 'treasuries'
  | 'treasury'
  | 'treasuryProposal'
  | 'treasuryProposals'
  | 'usdAmount'
  | 'wallet';

/** `['svc', publicKey, resource, params]`: development and production share nothing. */
export type SvcKey<R extends Resource = Resource, P = unknown> = readonly ['svc', string, R, P];

/**
 * The beginning of the keys of a resource, or of everything that was read with a client, for `invalidateQueries` and
 * `removeQueries`. The whole key of one query is `queryKey` of its options.
 *
 * @example
 * await queryClient.invalidateQueries({ queryKey: svcKey(client, 'balance') });
 */
export function svcKey(client: Pick<Client, 'publicKey'>, resource?: Resource): readonly string[] {
  return resource === undefined ? ['svc', client.publicKey] : ['svc', client.publicKey, resource];
}
