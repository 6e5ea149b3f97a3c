import type { Environment, Role } from '@svc/protocol';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { type SignedIn, type SignInOptions, signIn } from '../../support/members.ts';
import { type AnyService, TestService } from '../../support/service.ts';
import { desktop } from './accessible.ts';
import { closeContexts, openChromium, takePage } from './chromium.ts';

export { desktop, expectAccessible, expectAccessibleEverywhere, phone } from './accessible.ts';

export interface VisitOptions extends SignInOptions {
  /** `OWNER` unless told; null is signed out. */
  readonly role?: Role | null;
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly colorScheme?: 'light' | 'dark';
  readonly locale?: string;
  readonly environment?: Environment;
}

export interface Visit {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly member: SignedIn | undefined;
  /** Requests to other hosts, violations of the content security policy and script errors: must stay empty. */
  readonly complaints: readonly string[];
}

export interface Dashboards {
  readonly service: AnyService;
  readonly browser: Browser;
  /** A path below `/dashboard`, such as `/gifts`. */
  open(path: string, options?: VisitOptions): Promise<Visit>;
  /** Any path of the service, signed out unless told. */
  visit(path: string, options?: VisitOptions): Promise<Visit>;
  stop(): Promise<void>;
}

/** The dashboard of the shared service, with an organisation for this test file. */
export async function openDashboards(given?: AnyService): Promise<Dashboards> {
  const [service, browser] = await Promise.all([given ?? TestService.shared(), openChromium()]);
  return {
    service,
    browser,
    open: (place, options = {}) => open(browser, service, `/dashboard${place}`, options),
    visit: (place, options = {}) => open(browser, service, place, { role: null, ...options }),
    stop: async () => {
      await closeContexts(browser);
      if (!given) await service.stop();
    },
  };
}

async function open(browser: Browser, service: AnyService, place: string, options: VisitOptions): Promise<Visit> {
  const {
    environment,
    role = 'OWNER',
    viewport = desktop,
    colorScheme = 'light',
    locale = 'en-US',
    ...person
  } = options;
  const { origin } = service.server;
  const page = await takePage(browser, origin, { viewport, colorScheme, locale, reducedMotion: 'reduce' });
  const context = page.context();
  const member = role ? await signIn(service, role, person) : undefined;
  if (member) {
    const cookie = { name: 'svc_session', value: member.token, url: origin, httpOnly: true, sameSite: 'Lax' } as const;
    await context.addCookies([cookie]);
  }
  const complaints = listen(page, origin);
  await page.goto(`${origin}${withEnvironment(place, environment)}`);
  return { page, context, complaints, member };
}

const withEnvironment = (place: string, environment: Environment | undefined) =>
  environment ? `${place}${place.includes('?') ? '&' : '?'}env=${environment}` : place;

function listen(page: Page, origin: string): string[] {
  const complaints: string[] = [];
  page.on('request', (request) => {
    const url = request.url();
    if (!/^(data|blob):/.test(url) && new URL(url).origin !== origin) complaints.push(url);
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    // Chromium logs every unsuccessful response.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
      complaints.push(message.text());
    }
  });
  return complaints;
}

export const heading = (page: Page) => page.getByRole('heading', { level: 1 });
export const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

/** Waits for the page with this title. */
export const shows = (page: Page, title: string) =>
  page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();

/** To another page of the dashboard by a link, which costs a fraction of loading it. */
export const follow = (page: Page, path: string) =>
  page.locator(`a[href="/dashboard${path}"], a[href^="/dashboard${path}?"]`).first().click();
