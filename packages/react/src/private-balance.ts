'use client';
import type { Client } from '@svc/sdk';
import {
  deriveKeys,
  getPrivateBalance,
  history,
  type PrivateBalance,
  type PrivateBalanceTerms,
  type PrivateHistoryItem,
  type PrivateKeys,
  rollover,
  shield,
  shieldBatch,
  terms,
  transfer,
  unshield,
} from '@svc/sdk/private-balance';
import { type SkipToken, skipToken, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { completeWallet, type OwnWallet, ownerHook, type ReadHookOptions } from './factory.ts';
import type { Resource, SvcKey } from './keys.ts';
import { useSvcContext } from './provider.ts';

const CHANGES = {
  refreshes: ['privateBalance', 'privateHistory', 'balance', 'transactions', 'transactionPages'],
} as const;

/** A wallet that `useUnlock` has opened. Until then nothing is read: `data` stays undefined. */
export interface OwnPrivateParams {
  readonly wallet: OwnWallet;
}

type Read<T> = (client: Client, keys: PrivateKeys) => Promise<T>;
type Hook<T> = <S = T>(
  params: OwnPrivateParams | SkipToken,
  options?: ReadHookOptions<T, S>,
) => UseQueryResult<S, Error>;

/** The keys are derived for one read and forgotten; what was read is in the cache, by the wallet's address. */
function privateHook<T>(resource: Resource, read: Read<T>): Hook<T> {
  return function usePrivateRead<S = T>(params: OwnPrivateParams | SkipToken, options: ReadHookOptions<T, S> = {}) {
    const { client, vault } = useSvcContext();
    const wallet = params === skipToken ? undefined : params.wallet;
    const encryptKeyOf = () => (wallet ? vault.get(wallet.publicKey) : undefined);
    const isOpen = useSyncExternalStore(
      vault.subscribe,
      () => encryptKeyOf() !== undefined,
      () => false,
    );
    const queryFn = async () => {
      const encryptKey = encryptKeyOf();
      if (!wallet || encryptKey === undefined) throw new Error('The wallet was locked meanwhile.');
      const keys = await deriveKeys(client, { encryptKey, wallet: await completeWallet(client, wallet) });
      return read(client, keys);
    };
    return useQuery<T, Error, S, SvcKey>({
      queryKey: ['svc', client.publicKey, resource, { walletAddress: wallet?.publicKey }],
      queryFn: isOpen ? queryFn : skipToken,
      retry: false,
      ...options,
    });
  };
}

/**
 * The private balance of an unlocked wallet, decrypted on this device.
 *
 * @example
 * const { data } = usePrivateBalance({ wallet });
 * // data?.balance, data?.pending
 */
export const usePrivateBalance: Hook<PrivateBalance> = /* @__PURE__ */ privateHook('privateBalance', (client, keys) =>
  getPrivateBalance(client, { keys }),
);

/**
 * Shields, unshields and private transfers of an unlocked wallet, newest first.
 *
 * @example
 * const { data: items } = usePrivateHistory({ wallet });
 */
export const usePrivateHistory: Hook<PrivateHistoryItem[]> = /* @__PURE__ */ privateHook(
  'privateHistory',
  (client, keys) => history(client, { keys }),
);

/**
 * Where others send private transfers to, for an unlocked wallet.
 *
 * @example
 * const { data: privateAddress } = usePrivateAddress({ wallet });
 */
export const usePrivateAddress: Hook<string> = /* @__PURE__ */ privateHook(
  'privateAddress',
  async (_, { privateAddress }) => privateAddress,
);

/**
 * The pool's fee, whether shields are paused, and how many blocks an account waits between operations.
 *
 * @example
 * const { data: terms } = usePrivateTerms();
 */
export function usePrivateTerms<S = PrivateBalanceTerms>(
  options: ReadHookOptions<PrivateBalanceTerms, S> = {},
): UseQueryResult<S, Error> {
  const { client } = useSvcContext();
  return useQuery<PrivateBalanceTerms, Error, S, SvcKey>({
    queryKey: ['svc', client.publicKey, 'privateTerms', undefined],
    queryFn: () => terms(client),
    retry: false,
    ...options,
  });
}

/**
 * Moves tokens from the wallet into its private balance. `onStep` tells the progress.
 *
 * @example
 * const shield = useShield();
 * shield.mutate({ wallet, amount: '10', onStep: setStep });
 */
export const useShield = /* @__PURE__ */ ownerHook(shield, CHANGES);

/**
 * Shields several amounts in one transaction; the pool's fee is paid once.
 *
 * @example
 * const shieldBatch = useShieldBatch();
 * shieldBatch.mutate({ wallet, amounts: ['1', '2'] });
 */
export const useShieldBatch = /* @__PURE__ */ ownerHook(shieldBatch, CHANGES);

/**
 * Moves tokens from the private balance to the wallet, or to another address.
 *
 * @example
 * const unshield = useUnshield();
 * unshield.mutate({ wallet, amount: '2.5' });
 */
export const useUnshield = /* @__PURE__ */ ownerHook(unshield, CHANGES);

/**
 * Sends tokens to another private address; the amount is hidden.
 *
 * @example
 * const send = usePrivateTransfer();
 * send.mutate({ wallet, amount: '1', recipient: privateAddress });
 */
export const usePrivateTransfer = /* @__PURE__ */ ownerHook(transfer, CHANGES);

/**
 * Adds what was received to the balance that can be spent.
 *
 * @example
 * const rollover = useRollover();
 * rollover.mutate({ wallet });
 */
export const useRollover = /* @__PURE__ */ ownerHook(rollover, CHANGES);
