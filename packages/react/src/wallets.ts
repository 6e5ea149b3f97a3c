'use client';
import {
  type Chain,
  type ChainToken,
  changeEncryptKey,
  changeToPasskey,
  createWallet,
  syncOnChain,
  type TokenBalance,
  type UnlockParams as UnlockWithPasskeyParams,
  unlock,
  verifyEncryptKey,
} from '@svc/sdk';
import { useQueries } from '@tanstack/react-query';
import { useCallback, useSyncExternalStore } from 'react';
import { changeHook, completeWallet, hookOf, type OwnWallet, ownerHook, readHook } from './factory.ts';
import { balanceOptions, configOptions, walletOptions } from './options.ts';
import { useSvcContext } from './provider.ts';

/**
 * A user's newest wallet, without its encrypted private key. `data` is null for a user without a wallet.
 *
 * @example
 * const { data: wallet, isPending } = useWallet({ externalUserId: 'ana' });
 */
export const useWallet = /* @__PURE__ */ readHook(walletOptions);

/**
 * Creates a user's wallet; the service pays the gas. With `usePasskey` call it in a click. The wallet is unlocked
 * afterwards.
 *
 * @example
 * const createWallet = useCreateWallet();
 * createWallet.mutate({ externalUserId: 'ana', chain: 'STARKNET', encryptKey: backupCode, usePasskey: true });
 */
export const useCreateWallet = /* @__PURE__ */ hookOf(
  async ({ client, vault }, params: Parameters<typeof createWallet>[1]) => {
    const wallet = await createWallet(client, params);
    vault.put(wallet.publicKey, params.encryptKey);
    return { ...wallet, externalUserId: params.externalUserId };
  },
  { refreshes: ['wallet', 'balance'], settlesWith: ({ transactionHash }) => transactionHash },
);

export interface UnlockParams extends Pick<UnlockWithPasskeyParams, 'rpId' | 'credentials'> {
  readonly wallet: OwnWallet & { readonly externalUserId?: string };
  /** The PIN or passphrase. Without it the user's passkey is asked: call it in a click. */
  readonly encryptKey?: string | undefined;
}

/**
 * Opens a wallet with the user's passkey, or with a PIN, for the time of the provider's `unlockMs`. A wrong PIN is a
 * `SvcKeyError`. The secret stays in memory, outside of the query cache.
 *
 * @example
 * const unlock = useUnlock();
 * unlock.mutate({ wallet });                        // passkey
 * unlock.mutate({ wallet, encryptKey: typedPin });  // PIN
 */
export const useUnlock = /* @__PURE__ */ hookOf(async ({ client, vault }, params: UnlockParams) => {
  const { wallet, rpId, credentials } = params;
  // First: browsers ask for a passkey only right after a user gesture.
  const encryptKey =
    params.encryptKey ?? (await unlock(client, { externalUserId: wallet.externalUserId ?? '', rpId, credentials }));
  await verifyEncryptKey({ wallet: await completeWallet(client, wallet), encryptKey });
  vault.put(wallet.publicKey, encryptKey);
});

/**
 * Forgets the secret of one wallet, or of all.
 *
 * @example
 * const lock = useLock();
 * <button onClick={() => lock()}>Lock</button>
 */
export function useLock(): (wallet?: { readonly publicKey: string }) => void {
  const { vault } = useSvcContext();
  return useCallback((wallet) => vault.forget(wallet?.publicKey), [vault]);
}

/**
 * Whether a wallet is open.
 *
 * @example
 * const isUnlocked = useIsUnlocked(wallet);
 */
export function useIsUnlocked(wallet: { readonly publicKey: string } | null | undefined): boolean {
  const { vault } = useSvcContext();
  const read = () => wallet != null && vault.get(wallet.publicKey) !== undefined;
  return useSyncExternalStore(vault.subscribe, read, () => false);
}

/**
 * The balance of one token, by the wallet's address or its user. `balance` is in the token's smallest unit.
 *
 * @example
 * const { data } = useBalance({ chain: 'STARKNET', chainToken: 'USDC', externalUserId: 'ana' });
 */
export const useBalance = /* @__PURE__ */ readHook(balanceOptions);

export interface UseBalancesParams {
  /** Undefined while it is not known. */
  readonly walletPublicKey: string | undefined;
  readonly tokens: readonly ChainToken[];
  /** Default: `STARKNET`. */
  readonly chain?: Chain | undefined;
}

export interface BalancesResult {
  /** In the order of `tokens`, without those that are not read yet. */
  readonly data: readonly TokenBalance[];
  readonly isPending: boolean;
  readonly error: Error | null;
}

/**
 * The balances of several tokens. Each is cached as `useBalance` caches it.
 *
 * @example
 * const { data } = useBalances({ walletPublicKey: wallet?.publicKey, tokens: ['USDC', 'STRK'] });
 */
export function useBalances({ walletPublicKey, tokens, chain = 'STARKNET' }: UseBalancesParams): BalancesResult {
  const { client } = useSvcContext();
  const asked = walletPublicKey === undefined ? [] : tokens;
  return useQueries({
    queries: asked.map((chainToken) =>
      balanceOptions(client, { chain, chainToken, walletPublicKey: walletPublicKey ?? '' }),
    ),
    combine: (results) => ({
      data: results.flatMap(({ data }) => (data === undefined ? [] : [data])),
      isPending: walletPublicKey === undefined || results.some(({ isPending }) => isPending),
      error: results.find(({ error }) => error !== null)?.error ?? null,
    }),
  });
}

/**
 * Looks for incoming transfers of a wallet on the chain at once, instead of waiting for the indexer.
 *
 * @example
 * const sync = useSyncOnChain();
 * sync.mutate({ walletAddress: wallet.publicKey });
 */
export const useSyncOnChain = /* @__PURE__ */ changeHook(syncOnChain, {
  refreshes: ['balance', 'transactions', 'transactionPages'],
});

/**
 * Changes the PIN or passphrase. The wallet is locked afterwards.
 *
 * @example
 * const change = useChangeEncryptKey();
 * change.mutate({ externalUserId: 'ana', wallet, encryptKey: oldPin, newEncryptKey: newPin });
 */
export const useChangeEncryptKey = /* @__PURE__ */ ownerHook(changeEncryptKey, { refreshes: ['wallet'], locks: true });

/**
 * Makes a passkey open the wallet instead of what opened it before; `backupEncryptKey` opens it too. Call it in a click.
 * The wallet is locked afterwards.
 *
 * @example
 * const change = useChangeToPasskey();
 * change.mutate({ externalUserId: 'ana', wallet, encryptKey: pin, backupEncryptKey: pin });
 */
export const useChangeToPasskey = /* @__PURE__ */ ownerHook(changeToPasskey, { refreshes: ['wallet'], locks: true });

/**
 * The network, its tokens and wallet classes.
 *
 * @example
 * const { data: config } = useConfig();
 */
export const useConfig = /* @__PURE__ */ readHook(configOptions);
