import type { endpoints, ListedWallet, WalletChainState } from '@svc/protocol';
import type { Client } from './client/client.ts';
import {
  type CursorList,
  type CursorPage,
  type CursorParams,
  eachByCursor,
  type PageOptions,
  toCursorList,
} from './client/pages.ts';
import { request } from './client/request.ts';

export interface WalletFilters {
  /** The beginning of your id of the user, or an address or id of a wallet. */
  readonly search?: string | undefined;
  readonly walletType?: ListedWallet['walletType'] | undefined;
  readonly isDeployed?: boolean | undefined;
  /** ISO 8601: created at this time or later. */
  readonly createdAfter?: string | undefined;
  readonly createdBefore?: string | undefined;
}

export interface ListWalletsParams extends WalletFilters, CursorParams {}

/**
 * Reads wallets of your environment, newest first, without their encrypted keys. `wallets` iterates over all of them.
 * Server only: needs the secret key.
 *
 * @example
 * const { items, nextCursor } = await svc.listWallets({ search: 'ana', limit: 10 });
 */
export async function listWallets(client: Client, params: ListWalletsParams = {}): Promise<CursorList<ListedWallet>> {
  return toCursorList(await readWallets(client, params));
}

export interface WalletsParams extends WalletFilters, PageOptions {}

/**
 * Iterates over the wallets of your environment, newest first. Server only: needs the secret key.
 *
 * @example
 * for await (const { externalUserId, publicKey } of svc.wallets({ isDeployed: true })) console.log(externalUserId, publicKey);
 */
export function wallets(client: Client, params: WalletsParams = {}): AsyncGenerator<ListedWallet, void, undefined> {
  return eachByCursor((query) => readWallets(client, { ...params, ...query }), params);
}

function readWallets(client: Client, params: ListWalletsParams): Promise<CursorPage<ListedWallet>> {
  const { search, walletType, isDeployed, createdAfter, createdBefore, limit, cursor } = params;
  return request<typeof endpoints.listWallets>(client, {
    route: 'GET /svc-wallets',
    access: 'secret',
    query: { search, walletType, isDeployed, createdAfter, createdBefore, limit, cursor },
  });
}

export interface WalletIdParams {
  /** Of a listed wallet, not its address. */
  readonly id: string;
}

/**
 * Reads one wallet by its id, without its encrypted key. Server only: needs the secret key.
 *
 * @example
 * const { items } = await svc.listWallets({ limit: 1 });
 * const { externalUserId } = await svc.getWalletById({ id: items[0].id });
 */
export function getWalletById(client: Client, { id }: WalletIdParams): Promise<ListedWallet> {
  return request<typeof endpoints.getWalletById>(client, {
    route: 'GET /svc-wallets/{id}',
    access: 'secret',
    params: { id },
  });
}

/**
 * Reads from the chain what a wallet has: balances, class, sessions and spending policies. Server only: needs the secret
 * key.
 *
 * @example
 * const { items } = await svc.listWallets({ search: wallet.publicKey });
 * const { balances, sessions } = await svc.getWalletChainState({ id: items[0].id });
 */
export function getWalletChainState(client: Client, { id }: WalletIdParams): Promise<WalletChainState> {
  return request<typeof endpoints.getWalletChainState>(client, {
    route: 'GET /svc-wallets/{id}/chain-state',
    access: 'secret',
    params: { id },
  });
}
