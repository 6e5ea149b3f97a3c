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

const REMEMBERED = 'svc-next-page';
/** As long as a link of a mail is valid. */
const REMEMBERED_MS = 15 * 60_000;

/** The link of a mail opens another tab, without the page that was asked for. */
export function rememberNextPage(): void {
  localStorage.setItem(REMEMBERED, JSON.stringify({ page: nextPage(), until: Date.now() + REMEMBERED_MS }));
}

function takeRememberedPage(): string {
  const { page, until } = JSON.parse(localStorage.getItem(REMEMBERED) ?? '{}') as { page?: string; until?: number };
  localStorage.removeItem(REMEMBERED);
  return page !== undefined && until !== undefined && Date.now() < until ? page : '';
}

/** Where to go after signing in: always a page of the dashboard. */
export function nextPage(fallback = ''): string {
  const next = new URLSearchParams(location.search).get('next') ?? fallback;
  const url = URL.canParse(next, location.origin) ? new URL(next, location.origin) : undefined;
  const isOurs = url?.origin === location.origin && `${url.pathname}/`.startsWith(`${basePath}/`);
  return url && isOurs ? url.pathname + url.search : `${basePath}/`;
}

/** Loads the dashboard anew: nothing of an earlier session stays in memory. */
export const openDashboard = (): void => location.replace(nextPage(takeRememberedPage()));
