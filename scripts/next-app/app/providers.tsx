'use client';
import { SvcProvider } from '@svc/react';
import { createClient } from '@svc/sdk';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';

export function Providers({ children }: { children: ReactNode }) {
  const [queryClient] = useState(() => new QueryClient({ defaultOptions: { queries: { staleTime: 60_000 } } }));
  const [client] = useState(() =>
    createClient({
      baseUrl: process.env.NEXT_PUBLIC_BASE_URL ?? '',
      publicKey: process.env.NEXT_PUBLIC_PUBLIC_KEY ?? '',
      // A token of the signed-in user, from a route of your own.
      bearerToken: async () => (await fetch('/token')).text(),
    }),
  );
  return (
    <QueryClientProvider client={queryClient}>
      <SvcProvider client={client}>{children}</SvcProvider>
    </QueryClientProvider>
  );
}
