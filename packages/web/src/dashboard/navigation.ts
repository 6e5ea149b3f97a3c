import { useLocation, useParams, useRouter } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import type { Navigation } from '../ui/link.tsx';
import { SEARCH_NAME, useEnvironment } from './environment.ts';
import { basePath } from './place.ts';

/** Links of the design system, as paths below `/dashboard`. */
export function useDashboardNavigation(): Navigation {
  const router = useRouter();
  const environment = useEnvironment();
  return useMemo(() => {
    const href = (to: string) => basePath + withEnvironment(to === '/' ? '' : to, environment);
    return {
      href,
      go: (to) => router.history.push(href(to)),
      prepare: (to) => void router.preloadRoute({ to: to.split('?')[0] ?? '/' }).catch(() => undefined),
    };
  }, [router, environment]);
}

/** Opens a path below `/dashboard`; with `replace` the browser's back button skips the page before. */
export function useNavigateTo(): (to: string, replace?: boolean) => void {
  const router = useRouter();
  const environment = useEnvironment();
  return useCallback(
    (to, replace = false) => {
      const address = basePath + withEnvironment(to === '/' ? '' : to, environment);
      if (replace) router.history.replace(address);
      else router.history.push(address);
    },
    [router, environment],
  );
}

/** A part of the address, such as `id` of `/wallets/$id`. */
export function useParam(name: string): string {
  const params: Readonly<Record<string, string | undefined>> = useParams({ strict: false });
  return params[name] ?? '';
}

/** A value in the address' search, such as a filter or a tab; links and reloads keep it. */
export function useSearchParam(name: string, fallback = ''): [value: string, set: (value: string) => void] {
  const router = useRouter();
  const { searchStr } = useLocation();
  const value = new URLSearchParams(searchStr).get(name) ?? fallback;
  const set = (next: string) => {
    // The history knows of changes before the browser's address shows them.
    const { pathname, search: current } = router.history.location;
    const search = new URLSearchParams(current);
    if (next === fallback) search.delete(name);
    else search.set(name, next);
    const text = search.toString();
    router.history.replace(pathname + (text && `?${text}`));
  };
  return [value, set];
}

function withEnvironment(to: string, environment: string): string {
  const [path = '', search = ''] = to.split('?');
  const params = new URLSearchParams(search);
  if (!params.has(SEARCH_NAME) && environment === 'production') params.set(SEARCH_NAME, environment);
  const text = params.toString();
  return path + (text && `?${text}`);
}
