import { useRouter } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import { NavigationProvider } from '../ui/link.tsx';
import { useDashboardNavigation } from './navigation.ts';

/** Links of the design system open pages of the dashboard, and the focus goes to the page that opens. */
export function WithNavigation({ children }: { children: ReactNode }) {
  const navigation = useDashboardNavigation();
  const router = useRouter();
  useEffect(
    () =>
      router.subscribe('onRendered', ({ pathChanged, fromLocation }) => {
        if (fromLocation && pathChanged) document.querySelector<HTMLElement>('main h1')?.focus();
      }),
    [router],
  );
  return <NavigationProvider value={navigation}>{children}</NavigationProvider>;
}
