import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { mount } from '../ui/mount.tsx';
import './explorer.css';
import { createExplorerRouter } from './router.tsx';

const client = new QueryClient({ defaultOptions: { queries: { retry: 1, staleTime: 1_000, gcTime: 60_000 } } });

mount(
  <QueryClientProvider client={client}>
    <RouterProvider router={createExplorerRouter()} />
  </QueryClientProvider>,
);
