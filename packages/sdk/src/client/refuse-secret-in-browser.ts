import { SvcInputError } from './errors.ts';

/**
 * Whoever opens a page can read what is in it, so a secret key there is a secret key given away. Pages have a document,
 * whatever an app that shows them calls itself; browsers and their workers say `Mozilla/`; servers (Node, Deno, Bun, workers at the
 * edge) say their own name or nothing.
 */
export function refuseSecretInBrowser(scope: BrowserScope = globalThis): void {
  const { navigator, document } = scope;
  const inBrowser =
    document !== undefined || navigator?.userAgent?.startsWith('Mozilla/') || navigator?.product === 'ReactNative';
  if (!inBrowser) return;
  throw new SvcInputError(
    'secret_key_in_browser',
    'A secret key must never reach a browser or an app. Use bearerToken with the token of the signed-in user.',
  );
}

export interface BrowserScope {
  readonly document?: unknown;
  readonly navigator?: { readonly userAgent?: string; readonly product?: string };
}
