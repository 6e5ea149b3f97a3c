import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import type { ServerAddress } from '../../support/server.ts';
import { type AnyService, TestService } from '../../support/service.ts';
import { phone } from './accessible.ts';
import { closeContexts, openChromium, takePage } from './chromium.ts';
import { FakeClaims } from './fake-claims.ts';

export { barriers, desktop, phone } from './accessible.ts';

export interface ClaimVisit {
  readonly page: Page;
  readonly claims: FakeClaims;
  /** Requests to other hosts, content policy violations and script errors: must stay empty. */
  readonly complaints: readonly string[];
}

export interface ClaimVisits {
  readonly server: ServerAddress;
  open(options?: VisitOptions): Promise<ClaimVisit>;
  stop(): Promise<void>;
}

export interface VisitOptions extends BrowserContextOptions {
  readonly path?: string;
  readonly prepare?: (claims: FakeClaims) => void;
  /** Runs in the page before anything else. */
  readonly script?: string;
  /** False: the real service answers. */
  readonly fake?: boolean;
}

/** Of the shared service without settings. */
export async function openClaimVisits(settings?: Record<string, string>): Promise<ClaimVisits> {
  const starting: Promise<AnyService> = settings ? TestService.hosted(settings) : TestService.shared();
  const [service, browser] = await Promise.all([starting, openChromium()]);
  const { server } = service;
  return {
    server,
    open: (options = {}) => open(browser, server.origin, options),
    stop: async () => {
      await closeContexts(browser);
      await service.stop();
    },
  };
}

async function open(browser: Browser, origin: string, options: VisitOptions): Promise<ClaimVisit> {
  const { path = '/claim/NAVIDAD', prepare, script, fake = true, ...rest } = options;
  const settings = { viewport: phone, locale: 'en-US', reducedMotion: 'reduce', ...rest } as const;
  const isOrdinary = script === undefined && rest.permissions === undefined;
  const page = isOrdinary
    ? await takePage(browser, origin, settings)
    : await (await browser.newContext(settings)).newPage();
  const context = page.context();
  const claims = new FakeClaims();
  prepare?.(claims);
  if (fake) await claims.standIn(page);
  if (script !== undefined) await context.addInitScript(script);
  const complaints: string[] = [];
  page.on('request', (request) => {
    if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).origin !== origin)
      complaints.push(request.url());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    // Chromium logs every unsuccessful response.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
      complaints.push(message.text());
    }
  });
  await page.goto(origin + path);
  return { page, claims, complaints };
}

export const fits = (page: Page) => page.evaluate('document.documentElement.scrollWidth <= innerWidth');
export const heading = (page: Page) => page.getByRole('heading', { level: 1 });
export const button = (page: Page, name: string) => page.getByRole('button', { name });
