import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ExampleServer, startExample } from '../../examples/wallet-app/server/example-server.ts';
import { type AnyService, TestService } from '../support/service.ts';
import { addAuthenticator } from './support/authenticator.ts';
import { BROWSER_LIMIT_MS, closeContexts, openChromium, takePage } from './support/chromium.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');
const phone = { width: 390, height: 844 };
/** Creates, funds and uses a wallet and stretches keys, on a busy machine. */
const STORY_LIMIT_MS = 180_000;
const STEP_LIMIT_MS = 60_000;

let service: AnyService;
let browser: Browser;
let example: ExampleServer;

beforeAll(async () => {
  [service, browser] = await Promise.all([TestService.shared(), openChromium()]);
  example = await startExample(service.server.credentials, { port: 0, watch: false });
}, BROWSER_LIMIT_MS);
afterAll(async () => {
  await closeContexts(browser);
  await Promise.all([example?.stop(), service?.stop()]);
});

const newUser = (name: string) => `${name}-${crypto.randomUUID().slice(0, 8)}`;

async function open(name: string, options: { hasPrf?: boolean } = {}): Promise<Page> {
  const permissions = ['clipboard-read', 'clipboard-write'];
  const page = await takePage(browser, new URL(example.url).origin, { viewport: phone, permissions });
  page.setDefaultTimeout(STEP_LIMIT_MS);
  await addAuthenticator(page, options);
  await page.goto(example.url);
  await page.getByLabel('Your name').fill(name);
  await page.getByRole('button', { name: 'Continue' }).click();
  return page;
}

/** Counts the page's WebAuthn calls. */
const recordPasskeys = `
  globalThis.passkeysMade = 0;
  const make = navigator.credentials.create.bind(navigator.credentials);
  navigator.credentials.create = (options) => make(options).finally(() => passkeysMade++);`;

const notice = (page: Page) => page.locator('#notice:not(:empty)').textContent();
const balance = (page: Page) => page.locator('#balance');
const fits = (page: Page) => page.evaluate('document.documentElement.scrollWidth <= innerWidth');

async function send(page: Page, amount: string): Promise<void> {
  await page.getByLabel('Amount in USDC').fill(amount);
  await page.getByLabel('To address').fill('0xb0b');
  await page.getByRole('button', { name: 'Send' }).click();
}

async function hasWallet(externalUserId: string): Promise<boolean> {
  const { baseUrl, publicKey, secretKey } = service.server.credentials;
  const address = `${baseUrl}/svc-wallets/by-user?externalUserId=${externalUserId}`;
  const { status } = await fetch(address, {
    headers: { 'x-api-key': publicKey, authorization: `Bearer ${secretKey}` },
  });
  expect([200, 404]).toContain(status);
  return status === 200;
}

describe('the example app', () => {
  it(
    'creates neither wallet nor passkey before the recovery code is stored',
    async () => {
      const cleo = newUser('cleo');
      const page = await open(cleo);
      await page.evaluate(recordPasskeys);
      await page.getByRole('button', { name: 'Create my wallet' }).click();
      const first = await page.locator('#recovery-code:not(:empty)').innerText();
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Create my wallet' }).click();
      await page.getByRole('button', { name: 'Not now' }).click();
      await page.getByRole('button', { name: 'Create my wallet' }).click();
      expect(await page.locator('#recovery-code:not(:empty)').innerText()).toBe(first);
      expect(await page.evaluate('passkeysMade')).toBe(0);
      expect(await hasWallet(cleo)).toBe(false);

      await page.getByRole('button', { name: 'I have kept it' }).click();
      await page.getByText('Nothing yet').waitFor();
      expect(await page.evaluate('passkeysMade')).toBe(1);
      expect(await hasWallet(cleo)).toBe(true);
      expect(await page.locator('#recovery-code').innerText()).toBe('');
    },
    STORY_LIMIT_MS,
  );

  it(
    'does not offer to send again if the answer was lost',
    async () => {
      const page = await open(newUser('dora'));
      await page.getByRole('button', { name: 'Create my wallet' }).click();
      await page.getByRole('button', { name: 'I have kept it' }).click();
      await page.getByRole('button', { name: 'Get 25 test USDC' }).click();
      await page.getByText('Received').waitFor();
      await page.route('**/execute-sponsored-transaction', async (route) => {
        await route.fetch();
        await route.abort();
      });
      await send(page, '3');
      await page.getByText('It may have been sent. Look at Activity first.').waitFor();
      expect(await page.getByLabel('Amount in USDC').inputValue()).toBe('');
      await page.locator('li', { hasText: 'Sent' }).getByText('−3.00 USDC').waitFor();
    },
    STORY_LIMIT_MS,
  );

  it(
    'creates a wallet with a passkey, receives, sends after a reload, and lists both',
    async () => {
      const page = await open(newUser('ana'));
      await page.getByRole('button', { name: 'Create my wallet' }).click();
      await page.getByRole('button', { name: 'I have kept it' }).click();
      await page.getByRole('button', { name: 'Get 25 test USDC' }).click();
      expect(await notice(page)).toBe('25 test USDC have arrived.');
      expect(await balance(page).textContent()).toBe('25.00');
      await page.getByRole('button', { name: 'Copy address' }).click();
      expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(/^0x[0-9a-f]{64}$/);

      await page.reload();
      await page.getByText('Received').waitFor();
      await send(page, '2.5');
      expect(await notice(page)).toBe('2.5 USDC sent.');
      await page.locator('li', { hasText: 'Sent' }).getByText('Done').waitFor();
      expect(await balance(page).textContent()).toBe('22.50');
      expect(await page.locator('#activity li').allInnerTexts()).toEqual([
        expect.stringMatching(/^Sent[\s\S]*−2\.50 USDC[\s\S]*Done$/),
        expect.stringMatching(/^Received[\s\S]*\+25\.00 USDC[\s\S]*Done$/),
      ]);
      expect(await fits(page)).toBe(true);
    },
    STORY_LIMIT_MS,
  );

  it(
    'offers a recovery code on devices without PRF, which then opens the wallet',
    async () => {
      const page = await open(newUser('bea'), { hasPrf: false });
      await page.getByRole('button', { name: 'Create my wallet' }).click();
      const code = await page.locator('#recovery-code:not(:empty)').innerText();
      await page.getByRole('button', { name: 'I have kept it' }).click();
      await page.getByRole('button', { name: 'Use the recovery code alone' }).click();
      expect(await page.locator('#recovery-code:not(:empty)').innerText()).toBe(code);
      await page.getByRole('button', { name: 'I have kept it' }).click();
      await page.getByRole('button', { name: 'Get 25 test USDC' }).click();
      expect(await notice(page)).toBe('25 test USDC have arrived.');
      await send(page, '1');
      await page.getByLabel('Recovery code', { exact: true }).fill(code.toLowerCase().replaceAll('-', ' '));
      await page.getByRole('button', { name: 'Open', exact: true }).click();
      expect(await notice(page)).toBe('1 USDC sent.');
    },
    STORY_LIMIT_MS,
  );

  it(
    'reports insufficient funds and sends nothing',
    async () => {
      const page = await open(newUser('eva'));
      await page.getByRole('button', { name: 'Create my wallet' }).click();
      await page.getByRole('button', { name: 'I have kept it' }).click();
      await page.getByText('Nothing yet').waitFor();
      await send(page, '1');
      expect(await notice(page)).toBe('You have 0.00 USDC. Choose a smaller amount.');
      await page.getByText('Nothing yet').waitFor();
    },
    STORY_LIMIT_MS,
  );

  it('never sends the secret key to the page', async () => {
    const { secretKey, publicKey } = service.server.credentials;
    const answer = await (await fetch(new URL('/backend/settings', example.url))).text();
    expect(answer).toContain(publicKey);
    expect(answer).not.toContain(secretKey);
  });

  it("type-checks with the browser's types", async () => {
    const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
    const args = [tsc, '--noEmit', '--singleThreaded', '--project', 'examples/wallet-app'];
    const { stdout } = await run(process.execPath, args, { cwd: root, env: { ...process.env, GOGC: 'off' } });
    expect(stdout).toBe('');
  });
});
