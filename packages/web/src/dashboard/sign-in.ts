import { basePath } from './place.ts';

export type PasskeyUse = { readonly possible: true } | { readonly possible: false; readonly url: string | undefined };

/** Browsers have passkeys for host names in secure contexts. On this machine's address the same page as localhost has them. */
export function passkeyUse(): PasskeyUse {
  const { hostname, protocol, href } = location;
  const isName = !/^[\d.]+$|^\[/.test(hostname);
  if (isName && window.isSecureContext && 'PublicKeyCredential' in window) return { possible: true };
  const isLoopback = protocol === 'http:' && (hostname === '127.0.0.1' || hostname === '[::1]');
  return { possible: false, url: isLoopback ? href.replace(hostname, 'localhost') : undefined };
}

/** Where to go after signing in: always a page of the dashboard. */
export function nextPage(): string {
  const next = new URLSearchParams(location.search).get('next') ?? '';
  const url = URL.canParse(next, location.origin) ? new URL(next, location.origin) : undefined;
  const isOurs = url?.origin === location.origin && `${url.pathname}/`.startsWith(`${basePath}/`);
  return url && isOurs ? url.pathname + url.search : `${basePath}/`;
}

/** Loads the dashboard anew: nothing of an earlier session stays in memory. */
export const openDashboard = (): void => location.replace(nextPage());
