import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { addAuthenticator } from '../../tests/browser/support/authenticator.ts';
import { openChromium } from '../../tests/browser/support/chromium.ts';
import { type Env, Terminal } from './terminal.ts';

export const STEP_LIMIT_MS = 60_000;

/** Readable for the database's user, so that as root, too, the database stays inside and goes with it. */
function newFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'svc-first-hour-'));
  chmodSync(folder, 0o755);
  return folder;
}

/** What a new user has open, and how long each step took. */
export class Story {
  readonly folder = newFolder();
  #env: Env;
  readonly #terminals: Terminal[] = [];
  #browser: Browser | undefined;
  #page: Page | undefined;
  /** Time of all steps so far: what happens between two is ours, not the user's. */
  seconds = 0;

  constructor(env: Env) {
    this.#env = env;
  }

  setEnv(name: string, value: string): void {
    this.#env = { ...this.#env, [name]: value };
  }

  async step<T>(name: string, run: () => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    const result = await run().catch(async (error: unknown) => {
      const shown = await this.#shown();
      throw new Error(`A new user does not get past "${name}". ${shown}`, { cause: error });
    });
    const seconds = (performance.now() - startedAt) / 1_000;
    this.seconds += seconds;
    console.log(`${seconds.toFixed(1).padStart(7)} s ${this.seconds.toFixed(1).padStart(7)} s  ${name}`);
    return result;
  }

  terminal(name: string, commands: string, env: Env = {}): Terminal {
    const terminal = new Terminal(name, commands, { cwd: this.folder, env: { ...this.#env, ...env } });
    this.#terminals.push(terminal);
    return terminal;
  }

  /** With a passkey that needs no hand. */
  async openBrowser(): Promise<Page> {
    this.#browser = await openChromium();
    const page = await (await this.#browser.newContext({ locale: 'en-US' })).newPage();
    page.setDefaultTimeout(STEP_LIMIT_MS);
    await addAuthenticator(page);
    this.#page = page;
    return page;
  }

  /** What the user sees in the browser. */
  async #shown(): Promise<string> {
    const url = this.#page?.url() ?? 'about:blank';
    if (!this.#page || url === 'about:blank') return '';
    const text = await this.#page.innerText('body', { timeout: 1_000 }).catch(() => '');
    return `The browser is at ${url}:\n${text}`;
  }

  /** Ends what was started, the last first. Answers what had to be ended by force. */
  async end(): Promise<string[]> {
    await this.#browser?.close();
    const stubborn: string[] = [];
    for (const terminal of this.#terminals.splice(0).reverse()) {
      if (!(await terminal.stop())) stubborn.push(terminal.name);
    }
    rmSync(this.folder, { recursive: true, force: true });
    return stubborn;
  }
}
