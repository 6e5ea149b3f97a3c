import type { Browser, Page } from 'playwright-core';
import { userToken } from '../../support/client.ts';
import type { ServerAddress } from '../../support/server.ts';
import { TestService } from '../../support/service.ts';
import { bundle } from './bundle.ts';
import { closeContexts, openChromium } from './chromium.ts';
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
  optionsOf(externalUserId: string): Promise<PageOptions>;
  stop(): Promise<void>;
}

const html = '<!doctype html><html lang="en"><title>Test</title><script type="module" src="/sdk.js"></script></html>';

export async function openLibraryPages(): Promise<LibraryPages> {
  const [service, browser, pages] = await Promise.all([TestService.shared(), openChromium(), serveLibrary()]);
  const { server } = service;
  return {
    server,
    open: () => open(browser, pages),
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

async function serveLibrary(): Promise<PageServer> {
  const script = async (file: string): Promise<Asset> => ({ type: 'text/javascript', text: await bundle(file) });
  return servePages(
    new Map([
      ['/', { type: 'text/html', text: html }],
      ['/sdk.js', await script('sdk-page.ts')],
      ['/worker.js', await script('sdk-worker.ts')],
      ['/proof-worker.js', await script('proof-worker.ts')],
    ]),
  );
}

async function open(browser: Browser, { origin }: PageServer): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  await page.goto(origin);
  return page;
}
