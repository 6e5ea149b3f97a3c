import type { Environment, Role } from '@svc/protocol';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { type SignedIn, type SignInOptions, signIn } from '../../support/members.ts';
import { type AnyService, TestService } from '../../support/service.ts';
import { desktop } from './accessible.ts';
import { closeContexts, openChromium } from './chromium.ts';

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
  const contexts = new Contexts(browser, service);
  return {
    service,
    browser,
    open: (place, options = {}) => open(contexts, service.server.origin, `/dashboard${place}`, options),
    visit: (place, options = {}) => open(contexts, service.server.origin, place, { role: null, ...options }),
    stop: async () => {
      await closeContexts(browser);
      if (!given) await service.stop();
    },
  };
}

async function open(contexts: Contexts, origin: string, place: string, options: VisitOptions): Promise<Visit> {
  const { environment, ...rest } = options;
  const { page, member } = await contexts.take(rest);
  const complaints = listen(page, origin);
  await page.goto(`${origin}${withEnvironment(place, environment)}`);
  return { page, context: page.context(), complaints, member };
}

interface Taken {
  readonly page: Page;
  readonly member: SignedIn | undefined;
}

type Look = Required<Pick<VisitOptions, 'viewport' | 'colorScheme' | 'locale'>>;

/** A later test gets the page of an earlier one, without what that left: a page in a new process costs twice as much. */
class Contexts {
  readonly #browser: Browser;
  readonly #service: AnyService;
  readonly #free = new Map<string, Page[]>();

  constructor(browser: Browser, service: AnyService) {
    this.#browser = browser;
    this.#service = service;
  }

  async take(options: Omit<VisitOptions, 'environment'>): Promise<Taken> {
    const { role = 'OWNER', viewport = desktop, colorScheme = 'light', locale = 'en-US', ...person } = options;
    const look = { viewport, colorScheme, locale };
    const page = this.#free.get(JSON.stringify(look))?.pop() ?? (await this.#create(look));
    // What a failed test left behind may fail it again.
    onTestFinished(({ task }) =>
      task.result?.state === 'fail' ? page.context().close() : this.#putBack(look, page.context()),
    );
    if (!role) return { page, member: undefined };
    const member = await signIn(this.#service, role, person);
    const { origin: url } = this.#service.server;
    const cookie = { name: 'svc_session', value: member.token, url, httpOnly: true, sameSite: 'Lax' } as const;
    await page.context().addCookies([cookie]);
    return { page, member };
  }

  async #create(look: Look): Promise<Page> {
    const context = await this.#browser.newContext({ ...look, reducedMotion: 'reduce' });
    return context.newPage();
  }

  async #putBack(look: Look, context: BrowserContext): Promise<void> {
    const [page, ...others] = context.pages();
    if (!page) return context.close();
    for (const other of others) await other.close();
    for (const event of ['request', 'pageerror', 'console'] as const) page.removeAllListeners(event);
    await Promise.all([page.unrouteAll(), context.unrouteAll(), context.clearCookies()]);
    // A page of the same origin without scripts: nothing writes to the storage any more.
    const { origin } = this.#service.server;
    await page.goto(`${origin}/healthz`);
    await page.evaluate('sessionStorage.clear()');
    const session = await context.newCDPSession(page);
    await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
    await session.detach();
    await page.setViewportSize(look.viewport);
    await page.emulateMedia({ media: null, colorScheme: look.colorScheme });
    const key = JSON.stringify(look);
    this.#free.set(key, [...(this.#free.get(key) ?? []), page]);
  }
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
