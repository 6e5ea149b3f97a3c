import { walletOptions } from '@svc/react/options';
import { createClient } from '@svc/sdk';
import { dehydrate, HydrationBoundary, QueryClient } from '@tanstack/react-query';
import { Wallet } from './wallet';

export const dynamic = 'force-dynamic';

export default async function Page() {
  const client = createClient({
    baseUrl: process.env.NEXT_PUBLIC_BASE_URL ?? '',
    publicKey: process.env.NEXT_PUBLIC_PUBLIC_KEY ?? '',
    secretKey: process.env.SECRET_KEY ?? '',
  });
  const externalUserId = 'ana';
  const queryClient = new QueryClient();
  await queryClient.prefetchQuery(walletOptions(client, { externalUserId }));
  return (
    <HydrationBoundary state={dehydrate(queryClient)}>
      <Wallet externalUserId={externalUserId} />
    </HydrationBoundary>
  );
}
