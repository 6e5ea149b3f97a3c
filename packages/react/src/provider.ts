'use client';
import type { Client } from '@svc/sdk';
import { createContext, createElement, type ReactNode, useContext, useEffect, useMemo, useState } from 'react';
import { createVault, type Vault } from './secrets.ts';

interface SvcContext {
  readonly client: Client;
  readonly vault: Vault;
}

const Context = createContext<SvcContext | undefined>(undefined);

/** Long enough for a few payments, short enough for a device that is left alone. */
const UNLOCK_MS = 300_000;

export interface SvcProviderProps {
  /** Created once, outside of components or with `useState`: another client locks all wallets. */
  readonly client: Client;
  /** How long `useUnlock` keeps a wallet open. 0: never, so that every call passes `encryptKey`. Default: 300000. */
  readonly unlockMs?: number | undefined;
  readonly children?: ReactNode;
}

/**
 * Gives the hooks their client. Put it inside the `QueryClientProvider` of TanStack Query.
 *
 * @example
 * const client = createClient({ baseUrl, publicKey, bearerToken });
 * <QueryClientProvider client={queryClient}>
 *   <SvcProvider client={client}>…</SvcProvider>
 * </QueryClientProvider>
 */
export function SvcProvider({ client, unlockMs = UNLOCK_MS, children }: SvcProviderProps): ReactNode {
  const [vault] = useState(() => createVault(unlockMs));
  const value = useMemo(() => ({ client, vault }), [client, vault]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another client is another user.
  useEffect(() => () => vault.forget(), [client, vault]);
  return createElement(Context.Provider, { value }, children);
}

/**
 * The client of the provider, for the functions of `@svc/sdk` and for query options.
 *
 * @example
 * const client = useSvc();
 * const { data } = useSuspenseQuery(walletOptions(client, { externalUserId }));
 */
export function useSvc(): Client {
  return useSvcContext().client;
}

export function useSvcContext(): SvcContext {
  const context = useContext(Context);
  if (!context) throw new Error('Hooks of @svc/react work inside <SvcProvider> only.');
  return context;
}
