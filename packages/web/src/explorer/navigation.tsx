import { useLocation, useParams, useRouter } from '@tanstack/react-router';
import { type ReactNode, useEffect, useMemo } from 'react';
import { NavigationProvider } from '../ui/link.tsx';
import { basePath } from './place.ts';

const addressOf = (to: string) => basePath + (to === '/' ? '' : to);

/** Links of the design system open pages of the explorer, and the focus goes to the page that opens. */
export function WithNavigation({ children }: { children: ReactNode }) {
  const router = useRouter();
  const navigation = useMemo(
    () => ({
      href: addressOf,
      go: (to: string) => router.history.push(addressOf(to)),
      prepare: (to: string) =>
        void router.preloadRoute({ to: to.split(/[?#]/)[0] ?? '/' } as never).catch(() => undefined),
    }),
    [router],
  );
  useEffect(
    () =>
      router.subscribe('onRendered', ({ pathChanged, fromLocation }) => {
        if (fromLocation && pathChanged) document.querySelector<HTMLElement>('main h1')?.focus();
      }),
    [router],
  );
  return <NavigationProvider value={navigation}>{children}</NavigationProvider>;
}

/** Opens a path; with `replace` the browser's back button skips the page before. */
export function useOpen(): (to: string, replace?: boolean) => void {
  const router = useRouter();
  return (to, replace = false) =>
    replace ? router.history.replace(addressOf(to)) : router.history.push(addressOf(to));
}

/** A part of the address, such as `hash` of `/tx/$hash`. */
export function useParam(name: string): string {
  const params: Readonly<Record<string, string | undefined>> = useParams({ strict: false });
  return params[name] ?? '';
}

export function useSearchText(name: string): string {
  const { searchStr } = useLocation();
  return new URLSearchParams(searchStr).get(name) ?? '';
}

/** The path below the explorer, such as `/blocks`. */
export function usePath(): string {
  const { pathname } = useLocation();
  return (pathname.startsWith(basePath) ? pathname.slice(basePath.length) : pathname) || '/';
}
