import type { Page } from 'playwright-core';
import { userToken } from '../../support/client.ts';
import type { ServerAddress } from '../../support/server.ts';
import { TestService } from '../../support/service.ts';
import { type BundleOptions, bundle } from './bundle.ts';
import { closeContexts, openChromium, takePage } from './chromium.ts';
import { type Asset, type PageServer, servePages } from './page-server.ts';

/** The serialisable options of the library. */
export interface PageOptions {
  readonly baseUrl: string;
  readonly publicKey: string;
  readonly bearerToken: string;
}

export interface LibraryPages {
  readonly server: ServerAddress;
  open(): Promise<Page>;
  /** For one test, with nothing in it from another. */
  openInTest(): Promise<Page>;
  optionsOf(externalUserId: string): Promise<PageOptions>;
  stop(): Promise<void>;
}

const html = '<!doctype html><html lang="en"><title>Test</title><script type="module" src="/sdk.js"></script></html>';

export async function openLibraryPages(options: BundleOptions = {}): Promise<LibraryPages> {
  const [service, browser, pages] = await Promise.all([TestService.shared(), openChromium(), serveLibrary(options)]);
  const { server } = service;
  return {
    server,
    open: async () => show(await (await browser.newContext()).newPage(), pages),
    openInTest: async () => show(await takePage(browser, pages.origin, {}), pages),
    optionsOf: async (externalUserId) => ({
      baseUrl: server.credentials.baseUrl,
      publicKey: server.credentials.publicKey,
      bearerToken: await userToken(server, externalUserId),
    }),
    stop: async () => {
      await closeContexts(browser);
      await Promise.all([pages.stop(), service.stop()]);
    },
  };
}

async function serveLibrary(options: BundleOptions): Promise<PageServer> {
  const script = async (file: string, how?: BundleOptions): Promise<Asset> => ({
    type: 'text/javascript',
    text: await bundle(file, how),
  });
  return servePages(
    new Map([
      ['/', { type: 'text/html', text: html }],
      ['/sdk.js', await script('sdk-page.ts', options)],
      ['/worker.js', await script('sdk-worker.ts')],
      ['/proof-worker.js', await script('proof-worker.ts')],
    ]),
  );
}

async function show(page: Page, { origin }: PageServer): Promise<Page> {
  await page.goto(origin);
  return page;
}
