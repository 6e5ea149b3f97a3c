'use client';
// Every hook of this package is made by one of these: `readHook` for reads, `changeHook` for changes and `ownerHook` for
// changes that the wallet's owner signs.
import { type Client, getWallet, SvcError, SvcInputError, type SvcWallet } from '@svc/sdk';
import {
  type MutateOptions,
  type SkipToken,
  skipToken,
  type UseMutationOptions,
  type UseMutationResult,
  type UseQueryOptions,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useCallback } from 'react';
import { type Resource, type SvcKey, svcKey } from './keys.ts';
import { type ReadOptions, waitForReceipt } from './options.ts';
import { useSvcContext } from './provider.ts';
import { type Vault, type WithoutSecrets, withoutSecrets } from './secrets.ts';

/** Options of TanStack Query for a hook that reads: `enabled`, `select`, `refetchInterval`, … */
export type ReadHookOptions<T, S = T> = Omit<UseQueryOptions<T, Error, S, SvcKey>, 'queryKey' | 'queryFn'>;

type Arguments<P, O> = undefined extends P
  ? [params?: P | SkipToken, options?: O]
  : [params: P | SkipToken, options?: O];

/** Takes the parameters of the SDK's function, or `skipToken` while they are not known. */
export type ReadHook<P, T> = <S = T>(...args: Arguments<P, ReadHookOptions<T, S>>) => UseQueryResult<S, Error>;

export function readHook<R extends Resource, P, T>(
  optionsOf: (client: Client, params?: P) => ReadOptions<R, P, T>,
): ReadHook<P | undefined, T>;
export function readHook<R extends Resource, P, T>(
  optionsOf: (client: Client, params: P) => ReadOptions<R, P, T>,
): ReadHook<P, T>;
export function readHook<T>(
  optionsOf: (client: Client, params: unknown) => ReadOptions<Resource, unknown, T>,
): ReadHook<unknown, T> {
  return function useRead<S = T>(params?: unknown, options: ReadHookOptions<T, S> = {}) {
    const { client } = useSvcContext();
    const query = params === skipToken ? skipped(client) : optionsOf(client, params);
    return useQuery<T, Error, S, SvcKey>({ ...query, ...options });
  };
}

const skipped = ({ publicKey }: Client): { readonly queryKey: SvcKey; readonly queryFn: SkipToken } => ({
  queryKey: ['svc', publicKey, 'skipped', undefined],
  queryFn: skipToken,
});

/** Options of TanStack Query for a hook that changes: `onSuccess`, `onError`, `meta`, … */
export type ChangeHookOptions<P, T> = Omit<
  UseMutationOptions<WithoutSecrets<T>, Error, WithoutSecrets<P>>,
  'mutationFn' | 'mutationKey' | 'networkMode' | 'retry'
>;

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
type Callbacks<P, T> = MutateOptions<WithoutSecrets<T>, Error, WithoutSecrets<P>>;

/** `variables` and `data` are without secrets; what `mutateAsync` returns is whole. */
export type ChangeResult<P, T> = DistributiveOmit<
  UseMutationResult<WithoutSecrets<T>, Error, WithoutSecrets<P>>,
  'mutate' | 'mutateAsync'
> & {
  readonly mutate: (params: P, callbacks?: Callbacks<P, T>) => void;
  readonly mutateAsync: (params: P, callbacks?: Callbacks<P, T>) => Promise<T>;
};

export type ChangeHook<P, T> = (options?: ChangeHookOptions<P, T>) => ChangeResult<P, T>;

export interface ChangeSettings<T> {
  /** Read again after a success. */
  readonly refreshes?: readonly Resource[];
  /** The hash of the transaction after which they are read once more. */
  readonly settlesWith?: (result: T) => string;
  /** Replaces what opens the wallet: a secret that `useUnlock` kept is forgotten. */
  readonly locks?: boolean;
}

interface ChangeContext {
  readonly client: Client;
  readonly vault: Vault;
}

type Operation<P, T> = (context: ChangeContext, params: P) => Promise<T>;

export function changeHook<P extends object, T>(
  operation: (client: Client, params: P) => Promise<T>,
  settings?: ChangeSettings<T>,
): ChangeHook<P, T> {
  return hookOf<P, T>(({ client }, params) => operation(client, params), settings);
}

/** A wallet of `useWallet` is enough: its encrypted private key is read when it is needed. */
export type OwnWallet = SvcWallet | (Omit<SvcWallet, 'encryptedPrivateKey'> & { readonly externalUserId: string });

interface Signing {
  readonly encryptKey: string;
  readonly wallet: SvcWallet;
}

interface ToSign {
  readonly wallet: OwnWallet;
  readonly encryptKey?: string | undefined;
}

/** Without `encryptKey` the wallet must have been opened by `useUnlock`. */
export type OwnerChange<P> = Omit<P, keyof Signing> & ToSign;

export function ownerHook<P extends Signing, T>(
  operation: (client: Client, params: P) => Promise<T>,
  settings?: ChangeSettings<T>,
): ChangeHook<OwnerChange<P>, T>;
export function ownerHook<P extends object, T>(
  operation: (client: Client, params: P & Signing) => Promise<T>,
  settings?: ChangeSettings<T>,
): ChangeHook<P & ToSign, T> {
  return hookOf<P & ToSign, T>(async ({ client, vault }, params) => {
    const encryptKey = params.encryptKey ?? vault.get(params.wallet.publicKey);
    if (encryptKey === undefined) throw new SvcWalletLockedError();
    const wallet = await completeWallet(client, params.wallet);
    const result = await operation(client, { ...params, wallet, encryptKey });
    if (settings?.locks) vault.forget(wallet.publicKey);
    return result;
  }, settings);
}

/** Unlock the wallet with `useUnlock` and repeat, or pass `encryptKey`. */
export class SvcWalletLockedError extends SvcError {
  override readonly name = 'SvcWalletLockedError';

  constructor() {
    super('wallet_locked', 'The wallet is locked. Unlock it with useUnlock, or pass encryptKey. Nothing was sent.');
  }
}

/** The wallet with its encrypted private key as the service has it now. */
export async function completeWallet(client: Client, wallet: OwnWallet): Promise<SvcWallet> {
  if ('encryptedPrivateKey' in wallet) return wallet;
  const stored = await getWallet(client, { externalUserId: wallet.externalUserId });
  if (BigInt(stored.publicKey) === BigInt(wallet.publicKey)) return stored;
  throw new SvcInputError(
    'invalid_input',
    'The user has a newer wallet than this one. Pass the wallet with its encryptedPrivateKey.',
  );
}

/**
 * TanStack Query keeps variables and results of mutations. It gets copies without secrets; the whole ones are found by
 * these copies and live as long as they do.
 */
export function hookOf<P extends object, T>(
  operation: Operation<P, T>,
  { refreshes = [], settlesWith }: ChangeSettings<T> = {},
): ChangeHook<P, T> {
  const whole = new WeakMap<object, P>();
  const results = new WeakMap<object, T>();
  const hide = (params: P) => {
    const variables = withoutSecrets(params);
    whole.set(variables as object, params);
    return variables;
  };
  return function useChange(options = {}) {
    const context = useSvcContext();
    const queries = useQueryClient();
    const refresh = () =>
      Promise.all(
        refreshes.map((name) => queries.invalidateQueries({ queryKey: svcKey(context.client, name), exact: false })),
      );
    const mutation = useMutation<WithoutSecrets<T>, Error, WithoutSecrets<P>>({
      ...options,
      mutationFn: async (variables) => {
        const params = whole.get(variables as object);
        if (!params) throw new SvcWalletLockedError();
        const result = await operation(context, params);
        const shown = withoutSecrets(result);
        if (typeof shown === 'object' && shown !== null) results.set(shown, result);
        void refresh();
        // A block later balances and lists have changed.
        if (settlesWith) void waitForReceipt(context.client, settlesWith(result)).then(refresh, refresh);
        return shown;
      },
      // Money moves now or not at all: nothing is queued until the device is online, and nothing is sent twice.
      networkMode: 'always',
      retry: false,
    });
    // Stable, like those of TanStack Query: effects may depend on them.
    const { mutate, mutateAsync } = mutation;
    return {
      ...mutation,
      mutate: useCallback((params, callbacks) => mutate(hide(params), callbacks ?? {}), [mutate]),
      mutateAsync: useCallback(
        async (params, callbacks) => {
          const shown = await mutateAsync(hide(params), callbacks ?? {});
          return (results.get(shown as object) ?? shown) as T;
        },
        [mutateAsync],
      ),
    };
  };
}
