import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Environment, Role } from '@svc/protocol';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { type SignedIn, type SignInOptions, signedInContext } from '../../support/members.ts';
import { type AnyService, TestService } from '../../support/service.ts';
import { closeContexts, openChromium } from './chromium.ts';

export const desktop = { width: 1280, height: 800 };
export const phone = { width: 390, height: 844 };

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
  const { environment, ...kind } = options;
  const { context, member } = await contexts.take(kind);
  const page = await context.newPage();
  const complaints = listen(page, origin);
  await page.goto(`${origin}${withEnvironment(place, environment)}`);
  return { page, context, complaints, member };
}

interface Taken {
  readonly context: BrowserContext;
  readonly member: SignedIn | undefined;
}

/** A later test gets the context of an earlier one, if it is signed in still: its scripts are compiled already. */
class Contexts {
  readonly #browser: Browser;
  readonly #service: AnyService;
  readonly #free = new Map<string, Taken[]>();

  constructor(browser: Browser, service: AnyService) {
    this.#browser = browser;
    this.#service = service;
  }

  async take(options: Omit<VisitOptions, 'environment'>): Promise<Taken> {
    const kind = JSON.stringify(options);
    const taken = this.#free.get(kind)?.pop() ?? (await this.#create(options));
    // What a failed test left behind may fail it again.
    onTestFinished(({ task }) => (task.result?.state === 'fail' ? taken.context.close() : this.#putBack(kind, taken)));
    return taken;
  }

  async #create(options: Omit<VisitOptions, 'environment'>): Promise<Taken> {
    const { role = 'OWNER', viewport = desktop, colorScheme = 'light', locale = 'en-US', ...member } = options;
    const settings = { viewport, colorScheme, locale, reducedMotion: 'reduce' } as const;
    if (!role) return { context: await this.#browser.newContext(settings), member: undefined };
    const context = await signedInContext(this.#browser, this.#service, role, { ...member, context: settings });
    return { context, member: context.member };
  }

  async #putBack(kind: string, taken: Taken): Promise<void> {
    const { context, member } = taken;
    if (!member || !(await this.#isSignedIn(taken))) return context.close();
    for (const page of context.pages()) {
      await page.evaluate('localStorage.clear(); sessionStorage.clear()');
      await page.close();
    }
    this.#free.set(kind, [...(this.#free.get(kind) ?? []), taken]);
  }

  async #isSignedIn({ context, member }: Taken): Promise<boolean> {
    const { origin } = this.#service.server;
    const [session] = await context.cookies(origin);
    const { status } = await fetch(`${origin}/v1/session`, { headers: member?.headers ?? {} });
    return session?.value === member?.token && status === 200;
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

const axe = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Focus guards and the place of popups are Base UI's; both are known and harmless. */
const run = (rules?: readonly string[]) => `axe.run(
  { exclude: [['[data-base-ui-focus-guard]']] },
  { resultTypes: ['violations'], preload: false, ${rules ? `runOnly: ${JSON.stringify(rules)}` : ''} },
).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes
  .filter(({ target }) => id !== 'region' || !document.querySelector(String(target[0]))?.closest('[data-base-ui-portal]'))
  .map(({ html }) => id + ': ' + html)))`;

/** Colours in a transition have another contrast than those before and after it. */
const SETTLED = `new Promise(requestAnimationFrame).then(() => Promise.allSettled(
  document.getAnimations().filter((each) => each instanceof CSSTransition).map(({ finished }) => finished)))`;

const LOOKS = 3;

/** axe finds nothing, and nothing is wider than the screen. With `SVC_SCREENSHOTS=folder` it saves a picture. */
export async function expectAccessible(page: Page, name?: string, rules?: readonly string[]): Promise<void> {
  // Before its first heading a page is still loading.
  await page.locator('h1').first().waitFor({ state: 'attached' });
  await picture(page, name);
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(await axe);
  expect(await barriers(page, rules)).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
}

/** A toast that fades while axe looks at it is gone at the next look; what is wrong stays. */
async function barriers(page: Page, rules?: readonly string[]): Promise<unknown> {
  for (let look = 1; ; look++) {
    await page.evaluate(SETTLED);
    const found = (await page.evaluate(run(rules))) as readonly string[];
    if (found.length === 0 || look === LOOKS) return found;
  }
}

/**
 * In both colours, on a desktop and on a phone, without loading the page again. Names, roles and order depend on the width
 * alone, so the second colour of a width is checked for contrast.
 */
export async function expectAccessibleEverywhere(page: Page, name?: string): Promise<void> {
  for (const viewport of [desktop, phone]) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme: 'light' });
    await expectAccessible(page, name);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectAccessible(page, name, ['color-contrast']);
  }
  await page.setViewportSize(desktop);
  await page.emulateMedia({ colorScheme: 'light' });
}

async function picture(page: Page, name?: string): Promise<void> {
  const folder = process.env.SVC_SCREENSHOTS;
  if (!folder) return;
  const isDark = await page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches");
  const place = new URL(page.url()).pathname.replace(/^\/dashboard\/?/, '').replaceAll('/', '-') || 'overview';
  await mkdir(folder, { recursive: true });
  const file = `${name ?? place}-${page.viewportSize()?.width}-${isDark ? 'dark' : 'light'}.png`;
  await page.screenshot({ path: path.join(folder, file), animations: 'disabled', fullPage: true });
}
