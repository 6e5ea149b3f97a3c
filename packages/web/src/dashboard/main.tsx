import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { mount } from '../ui/mount.tsx';
import { ToastProvider } from '../ui/toast.tsx';
import { createQueryClient } from './api.ts';
import './dashboard.css';
import { createDashboardRouter } from './router.tsx';

mount(
  <QueryClientProvider client={createQueryClient()}>
    <ToastProvider>
      <RouterProvider router={createDashboardRouter()} />
    </ToastProvider>
  </QueryClientProvider>,
);
