import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { removeAuthenticators } from './authenticator.ts';

/** For `beforeAll`. A start takes a second, an installation minutes. */
export const BROWSER_LIMIT_MS = 600_000;

/** The shell has no windows: a new context costs it a tenth of what it costs a whole browser. */
const SHELL = 'chromium-headless-shell';
const NAMES = [SHELL, 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
/** On macOS browsers are not in the PATH. */
const APPLICATIONS = ['Chromium', 'Google Chrome'].map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`);
const WHAT_TO_DO = 'Install Chromium or Chrome, or name one with SVC_CHROMIUM=/path/to/chromium.';
/** Test files may install concurrently: one installs, the others wait. */
const INSTALL = `flock /tmp/svc-install-chromium.lock sh -c '
  command -v ${SHELL} || { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy ${SHELL}; }'`;

/** A page lives for seconds: compiling what is warm, and collecting a small heap often, costs more than it saves. */
const SCRIPTS = ['--invocation-count-for-maglev=4000', '--min-semi-space-size=32'];

/** On a busy machine a page has taken half a minute. */
const PATIENCE_MS = 90_000;

let running: Promise<Browser> | undefined;

/** One browser for all test files of a worker, which ends with it: a start costs as much as a test. */
export async function openChromium(): Promise<Browser> {
  running ??= launch();
  const browser = await running;
  if (browser.isConnected()) return browser;
  running = launch();
  return running;
}

/** For `afterAll`. What later tests can use stays open. */
export async function closeContexts(browser: Browser | undefined): Promise<void> {
  const kept = new Set([...free.values()].flat().map((page) => page.context()));
  const others = (browser?.contexts() ?? []).filter((context) => !kept.has(context));
  await Promise.all(others.map((context) => context.close()));
}

/** Pages that tests are done with, by what their context was made with. */
const free = new Map<string, Page[]>();

/**
 * A page of a context of its own for this test, which may have been another test's: one in a new process costs twice as much.
 * Nothing is left in it but Chromium's cache. `origin` is where the test opens it.
 */
export async function takePage(browser: Browser, origin: string, options: BrowserContextOptions): Promise<Page> {
  const kind = JSON.stringify(options);
  const used = free.get(kind)?.pop();
  const isOpen = used?.context().browser() === browser && !used.isClosed();
  const page = isOpen ? used : await (await browser.newContext(options)).newPage();
  const context = page.context();
  onTestFinished(async ({ task }) => {
    // What a failed test left behind may fail it again.
    if (task.result?.state === 'fail' || !(await clear(page, origin, options))) return context.close();
    free.set(kind, [...(free.get(kind) ?? []), page]);
  });
  return page;
}

/** False: the test has closed it. */
async function clear(page: Page, origin: string, options: BrowserContextOptions): Promise<boolean> {
  if (page.isClosed()) return false;
  const context = page.context();
  const others = context.pages().filter((each) => each !== page);
  await Promise.all(others.map((other) => other.close()));
  for (const event of ['request', 'pageerror', 'console', 'worker'] as const) page.removeAllListeners(event);
  await Promise.all([page, context].map((each) => each.unrouteAll({ behavior: 'ignoreErrors' })));
  await removeAuthenticators(page);
  // A page without scripts: nothing writes to the storage any more.
  await page.goto(`${origin}/healthz`);
  await page.evaluate('sessionStorage.clear()');
  const session = await context.newCDPSession(page);
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
  await session.detach();
  await context.clearCookies();
  page.setDefaultTimeout(PATIENCE_MS);
  if (options.viewport) await page.setViewportSize(options.viewport);
  await page.emulateMedia({ media: null, colorScheme: options.colorScheme ?? 'light' });
  return true;
}

async function launch(): Promise<Browser> {
  const executablePath = findChromium() ?? installChromium();
  // Chromium's sandbox does not run as root. Pages of one context share a process, which halves the cost of the next page.
  const args = ['--process-per-site', `--js-flags=${SCRIPTS.join(' ')}`];
  const browser = await chromium.launch({ executablePath, headless: true, chromiumSandbox: !isRoot(), args });
  browser.on('context', (context) => context.setDefaultTimeout(PATIENCE_MS));
  return browser;
}

export function findChromium(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const { SVC_CHROMIUM: named, PATH = '' } = env;
  if (named) {
    if (isExecutable(named)) return named;
    throw new Error(`SVC_CHROMIUM is ${named}, and there is no program. ${WHAT_TO_DO}`);
  }
  const folders = PATH.split(path.delimiter).filter((folder) => folder !== '');
  const onPath = NAMES.flatMap((name) => folders.map((folder) => path.join(folder, name)));
  return [...onPath, ...(process.platform === 'darwin' ? APPLICATIONS : [])].find(isExecutable);
}

function installChromium(): string {
  const canInstall = process.platform === 'linux' && isRoot() && isExecutable('/usr/bin/apt-get');
  if (!canInstall) throw new Error(`The browser tests found no browser. ${WHAT_TO_DO}`);
  process.stderr.write(`No browser found: installing the package ${SHELL} with apt-get (once)…\n`);
  const { status, stderr, stdout } = spawnSync('sh', ['-c', INSTALL], { encoding: 'utf8' });
  const found = findChromium();
  if (found !== undefined) return found;
  throw new Error(`apt-get did not install ${SHELL} (exit ${status}). ${WHAT_TO_DO}\n${stdout}${stderr}`);
}

const isRoot = () => process.getuid?.() === 0;

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
