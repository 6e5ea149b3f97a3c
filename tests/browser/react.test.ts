import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { preview } from 'vite';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Owner } from '../support/app.ts';
import { userToken } from '../support/client.ts';
import { type AnyService, TestService } from '../support/service.ts';
import { USDC } from '../support/starknet-client.ts';
import { newTreasury } from '../support/treasuries.ts';
import { addAuthenticator } from './support/authenticator.ts';
import { bundle } from './support/bundle.ts';
import { BROWSER_LIMIT_MS, closeContexts, openChromium } from './support/chromium.ts';
import { type PageServer, servePages } from './support/page-server.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');
const example = path.join(root, 'examples/react-app');

/** Global of the page: functions passed to `evaluate` run there. */
declare const states: () => string;

const [PIN, WRONG_PIN, NEW_PIN] = ['pin-of-the-page', 'pin-of-nobody', 'pin-that-is-new'];
const STEP_LIMIT_MS = 60_000;
const user = `hooks ${crypto.randomUUID()}`;
const html = '<!doctype html><html lang="en"><title>Hooks</title><body><script type="module" src="/page.js"></script>';

let service: AnyService;
let browser: Browser;
let pages: PageServer;
let page: Page;
const problems: string[] = [];

beforeAll(async () => {
  [service, browser, pages] = await Promise.all([TestService.shared(), openChromium(), serve()]);
  page = await (await browser.newContext()).newPage();
  page.setDefaultTimeout(STEP_LIMIT_MS);
  page.on('pageerror', (error) => problems.push(String(error)));
  await addAuthenticator(page);
  const { baseUrl, publicKey } = service.server.credentials;
  const token = await userToken(service.server, user);
  await page.goto(`${pages.origin}/?${new URLSearchParams({ baseUrl, publicKey, token, user, usdc: USDC })}`);
}, BROWSER_LIMIT_MS);
afterAll(async () => {
  await closeContexts(browser);
  await Promise.all([pages?.stop(), service?.stop()]);
});

async function serve(): Promise<PageServer> {
  const script = { type: 'text/javascript', text: await bundle('react-page.tsx', { stretchesOnce: true }) };
  return servePages(
    new Map([
      ['/', { type: 'text/html', text: html }],
      ['/page.js', script],
    ]),
  );
}

const click = (name: string) => page.getByRole('button', { name, exact: true }).click();
const shown = (name: string) => page.getByLabel(name, { exact: true });
/** Waits for the value, and fails with the one that was there instead. */
const expectShown = (name: string, value: unknown) =>
  expect.poll(() => shown(name).textContent(), { timeout: STEP_LIMIT_MS, interval: 50 }).toEqual(value);

describe('the hooks, in a page', () => {
  // One story: each step needs the wallet as the step before left it.
  it('create, open and use a wallet, and never put a secret into the cache', async () => {
    expect(problems).toEqual([]);
    await expectShown('wallet', 'none');
    await click('Create');
    await expectShown('created', expect.stringMatching(/^0x/));
    await expectShown('wallet', expect.stringMatching(/^0x[0-9a-f]{64}$/));
    const address = String(await shown('wallet').textContent());
    // What was just made is open.
    await expectShown('unlocked', 'true');
    await expectShown('balances', 'USDC 0,STRK 0');

    await click('Lock');
    await expectShown('unlocked', 'false');
    await service.sandbox.faucet(address, 'USDC', '100');
    await click('Send');
    await expectShown('transfer', 'wallet_locked');

    await page.getByLabel('PIN').fill(WRONG_PIN);
    await click('Unlock with PIN');
    await expectShown('unlock', 'decryption_failed');
    await expectShown('unlocked', 'false');
    await page.getByLabel('PIN').fill(PIN);
    await click('Unlock with PIN');
    await expectShown('unlocked', 'true');
    await click('Lock');
    await click('Unlock with passkey');
    await expectShown('unlocked', 'true');

    await click('Send');
    await expectShown('transfer', expect.stringMatching(/^ACCEPTED_ON_L[12]$/));
    // Balances and lists follow by themselves.
    await expectShown('balances', 'USDC 98500000,STRK 0');
    await expectShown('types', expect.stringContaining('SEND'));
    await expectShown('record', 'SUCCESS');
    await click('Call');
    await expectShown('call', 'true');

    await expectShown('client', 'true');
    await expectShown('chain', '0x5356435f53414e44424f58');
    await expectShown('balance', '98500000');
    await click('Sync');
    await expectShown('synced', expect.stringMatching(/^[1-9]/));
    await expectShown('pages', '1');
    await click('Next page');
    await expectShown('pages', '2');
    await expectShown('skus', '2');
    await click('Check the reference');
    await expectShown('reference', 'true');

    await expectShown('price', expect.stringMatching(/^5\.4/));
    await click('Buy');
    await expectShown('purchase', 'SUCCESS');

    await click('Give');
    await expectShown('claim', '2');
    await click('Claim');
    await expectShown('redeem', 'success');
    await expectShown('claim', expect.not.stringMatching(/^2$/));
    await expectShown('redeem state', 'SUCCESS');
    await expectShown('gift', 'true');
    await click('Pause the gift');
    await expectShown('gift', 'false');
    await expectShown('gifts', '1');
    await click('Delete the gift');
    await expectShown('gifts', '0');

    await click('Start a session');
    await expectShown('session key', 'svc1.');
    await expectShown('session', 'true');
    await expectShown('policy', '5 0');
    await click('Spend by session');
    await expectShown('spent', 'true');
    await expectShown('calls left', '2');
    await expectShown('policy', '5 4');
    await click('More calls');
    await expectShown('calls left', '9');
    await click('Raise the limit');
    await expectShown('policy', '7 0');
    await click('Remove the limit');
    await expectShown('policy', '0 0');
    await click('Revoke');
    await expectShown('session', 'false');

    // What was kept opens the wallet no longer.
    await page.getByLabel('PIN').fill(NEW_PIN);
    await click('Change PIN');
    await expectShown('change', 'success');
    await expectShown('unlocked', 'false');
    await click('Unlock with PIN');
    await expectShown('unlocked', 'true');
    await click('Change to passkey');
    await expectShown('passkey', 'success');
    await expectShown('unlocked', 'false');
    await click('Unlock with passkey');
    await expectShown('unlocked', 'true');

    const cache = await page.evaluate(() => states());
    expect(cache).toContain(address);
    const secrets = [PIN, WRONG_PIN, NEW_PIN, 'encryptKey', 'EncryptKey', 'svc1.', 'encryptedPrivateKey'];
    expect(secrets.filter((secret) => cache.includes(secret))).toEqual([]);
  }, 300_000);
});

describe('the hooks for private balances', () => {
  it('shield, send, receive and unshield with progress, and keep no key in the cache', async () => {
    const { baseUrl, publicKey } = service.server.credentials;
    const owner = `private ${crypto.randomUUID()}`;
    const token = await userToken(service.server, owner);
    const asked = { baseUrl, publicKey, token, user: owner, usdc: USDC, private: 'yes' };
    await page.goto(`${pages.origin}/?${new URLSearchParams(asked)}`);
    await expectShown('wallet', 'none');
    await click('Create');
    await expectShown('wallet', expect.stringMatching(/^0x[0-9a-f]{64}$/));
    const address = String(await shown('wallet').textContent());
    await service.sandbox.faucet(address, 'USDC', '10');
    await expectShown('fee', '0');
    await expectShown('private', '0 and 0');
    await click('Shield');
    await expectShown('private', '2 and 0');
    await expectShown('steps', 'prepare,fund,prove,submit,finish');
    await click('Shield twice');
    await expectShown('private', '5 and 0');
    await click('Send privately');
    await expectShown('private', '3.5 and 1.5');
    await click('Roll over');
    await expectShown('private', '5 and 0');
    await click('Unshield');
    await expectShown('private', '1 and 0');
    await expectShown('private history', expect.stringMatching(/^UNSHIELD,ROLLOVER,.*SHIELD,SHIELD,SHIELD$/));
    expect(await service.app.balance(address, 'USDC')).toBe(9_000_000n);
    const cache = await page.evaluate(() => states());
    const secrets = [PIN, 'encryptKey', 'svc1.', 'encryptedPrivateKey', 'viewingKey'];
    expect(secrets.filter((secret) => cache.includes(secret))).toEqual([]);
    expect(problems).toEqual([]);
  }, 300_000);
});

describe('the hooks for staff', () => {
  it('propose, sign, execute and cancel a payment of a treasury, without the key in the cache', async () => {
    const [signer, recipient] = [new Owner(), new Owner().address];
    const treasury = await newTreasury(service.app, { signers: [signer], threshold: 1 });
    await service.sandbox.faucet(treasury.address, 'USDC', '10');
    const { baseUrl, publicKey, secretKey } = service.server.credentials;
    const asked = { baseUrl, publicKey, secretKey, treasury: treasury.id, recipient, signer: signer.privateKey };
    await page.goto(`${pages.origin}/?${new URLSearchParams(asked)}`);
    await expectShown('treasuries', 'true');
    await expectShown('treasury', 'Caja');
    await click('Propose');
    await expectShown('proposal', 'PENDING');
    await expectShown('proposals', 'PENDING');
    await click('Sign');
    await expectShown('proposal', 'READY');
    await click('Execute');
    // Read again until it has ended.
    await expectShown('proposal', 'EXECUTED');
    expect(await service.app.balance(recipient, 'USDC')).toBe(1_500_000n);
    await click('Propose');
    await expectShown('proposal', 'PENDING');
    await click('Cancel');
    await expectShown('proposal', 'CANCELLED');
    const cache = await page.evaluate(() => states());
    expect(cache).toContain(treasury.address);
    expect([signer.privateKey, secretKey, 'privateKey'].filter((secret) => cache.includes(secret))).toEqual([]);
    expect(problems).toEqual([]);
  }, 300_000);
});

it('the pages use every hook', async () => {
  const folder = path.join(root, 'packages/react/src');
  const files = (await readdir(folder)).filter((file) => !file.endsWith('.test.ts'));
  const sources = await Promise.all(files.map((file) => readFile(path.join(folder, file), 'utf8')));
  const hooks = [...sources.join('\n').matchAll(/^export (?:const|function) (use[A-Z]\w+)/gm)].map(([, name]) => name);
  expect(hooks.length).toBeGreaterThan(40);
  const used = await Promise.all(
    ['react-page.tsx', 'react-private.tsx', 'react-treasury.tsx'].map((file) =>
      readFile(path.join(import.meta.dirname, 'pages', file), 'utf8'),
    ),
  );
  const unused = hooks.filter((name) => name !== 'useSvcContext' && !used.join('').includes(`${name}(`));
  expect(unused).toEqual([]);
});

describe('the example app in React', () => {
  const tool = (name: string, ...args: string[]) =>
    run(process.execPath, [path.join(root, 'node_modules', name), ...args], {
      cwd: example,
      env: { ...process.env, NODE_ENV: 'production', GOGC: 'off' },
    });

  it('type-checks', async () => {
    const { stdout } = await tool('typescript/bin/tsc', '--noEmit', '--singleThreaded', '--project', example);
    expect(stdout).toBe('');
  });

  it('is built, and then creates a wallet with a passkey, sends, buys, and claims a gift', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'svc-react-app-'));
    const { baseUrl, publicKey } = service.server.credentials;
    await writeFile(path.join(folder, 'credentials.json'), JSON.stringify({ baseUrl, publicKey }));
    const outDir = path.join(folder, 'dist');
    await tool('vite/bin/vite.js', 'build', '--outDir', outDir, '--emptyOutDir', '--logLevel', 'error');
    vi.stubEnv('SVC_DATA_DIR', folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    const server = await preview({ root: example, logLevel: 'error', build: { outDir }, preview: { port: 0 } });
    try {
      const app = await (await browser.newContext({ viewport: { width: 390, height: 844 } })).newPage();
      app.setDefaultTimeout(STEP_LIMIT_MS);
      await addAuthenticator(app);
      await app.goto(server.resolvedUrls?.local[0] ?? '');
      const press = (name: string) => app.getByRole('button', { name, exact: true }).click();
      await app.getByLabel('Your name').fill(`ana-${crypto.randomUUID().slice(0, 8)}`);
      await press('Continue');
      await press('I have kept it, create my wallet');
      await press('Get 25 test USDC');
      const balance = (text: string) => app.getByLabel('Balance').filter({ hasText: text }).waitFor();
      await balance('25.00');
      await press('Lock');
      await press('Unlock with passkey');
      await app.getByRole('button', { name: 'Lock', exact: true }).waitFor();
      await app.getByLabel('Amount in USDC').fill('2.5');
      await app.getByLabel('To address').fill('0xb0b');
      await press('Send');
      await app.getByText('Sent.', { exact: true }).waitFor();
      await balance('22.50');
      await app.getByLabel('Service').selectOption('telcel-recarga-100');
      await app.getByLabel('Phone number').fill('5512345678');
      await press('Buy');
      await app.getByText('Delivered:').waitFor();
      await balance('17.09');
      await press('Create a gift of 2 USDC');
      await press('Claim');
      await app.getByText('It is yours.').waitFor();
      await balance('19.09');
      expect(await app.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    } finally {
      await server.close();
      await rm(folder, { recursive: true, force: true });
    }
  }, 300_000);
});
