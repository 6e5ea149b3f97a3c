import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Environment, Role } from '@svc/protocol';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';
import { type SignedIn, type SignInOptions, signedInContext } from '../../support/members.ts';
import { type AnyService, TestService } from '../../support/service.ts';
import { openChromium } from './chromium.ts';

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
  stop(): Promise<void>;
}

/** The dashboard of the shared service, with an organisation for this test file. */
export async function openDashboards(given?: AnyService): Promise<Dashboards> {
  const [service, browser] = await Promise.all([given ?? TestService.shared(), openChromium()]);
  return {
    service,
    browser,
    open: (place, options = {}) => open(browser, service, place, options),
    stop: async () => {
      await browser.close();
      if (!given) await service.stop();
    },
  };
}

async function open(browser: Browser, service: AnyService, place: string, options: VisitOptions): Promise<Visit> {
  const { role = 'OWNER', viewport = desktop, colorScheme = 'light', locale = 'en-US', ...member } = options;
  const settings = { viewport, colorScheme, locale };
  const context = role
    ? await signedInContext(browser, service, role, { ...member, context: settings })
    : await browser.newContext(settings);
  const page = await context.newPage();
  const complaints = listen(page, service.server.origin);
  await page.goto(`${service.server.origin}/dashboard${withEnvironment(place, options.environment)}`);
  return { page, context, complaints, member: 'member' in context ? (context.member as SignedIn) : undefined };
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
const RUN = `axe.run(
  { exclude: [['[data-base-ui-focus-guard]']] }, { resultTypes: ['violations'], preload: false },
).then(({ violations }) =>
  violations.flatMap(({ id, nodes }) => nodes
    .filter(({ target }) => id !== 'region' || !document.querySelector(String(target[0]))?.closest('[data-base-ui-portal]'))
    .map(({ html }) => id + ': ' + html)))`;

/** Colours in a transition have another contrast than those before and after it. */
const SETTLED = `new Promise(requestAnimationFrame).then(() => Promise.allSettled(
  document.getAnimations().filter((each) => each instanceof CSSTransition).map(({ finished }) => finished)))`;

/** axe finds nothing, and nothing is wider than the screen. With `SVC_SCREENSHOTS=folder` it saves a picture. */
export async function expectAccessible(page: Page, name?: string): Promise<void> {
  // Before its first heading a page is still loading.
  await page.locator('h1').first().waitFor({ state: 'attached' });
  await picture(page, name);
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(await axe);
  await page.evaluate(SETTLED);
  expect(await page.evaluate(RUN)).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
}

/** In both colours, on a desktop and on a phone, without loading the page again. */
export async function expectAccessibleEverywhere(page: Page, name?: string): Promise<void> {
  for (const viewport of [desktop, phone]) {
    await page.setViewportSize(viewport);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await expectAccessible(page, name);
    }
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
