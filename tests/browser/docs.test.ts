import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { send } from '../support/client.ts';
import { type AnyService, TestService } from '../support/service.ts';
import { closeContexts, openChromium, takePage } from './support/chromium.ts';
import { desktop, expectAccessibleEverywhere, phone } from './support/dashboard.ts';

const LIMIT_MS = 120_000;
let service: AnyService;
let browser: Browser;
const complaints: string[] = [];
beforeAll(async () => {
  [service, browser] = await Promise.all([TestService.shared(), openChromium()]);
});
afterAll(async () => {
  await closeContexts(browser);
  await service.stop();
});
afterEach(() => expect(complaints.splice(0)).toEqual([]));

async function open(path: string, viewport = desktop): Promise<Page> {
  const { origin } = service.server;
  const permissions = ['clipboard-read', 'clipboard-write'];
  const page = await takePage(browser, origin, { viewport, permissions });
  page.on('request', (request) => void (request.url().startsWith(origin) || complaints.push(request.url())));
  page.on('pageerror', (error) => void complaints.push(error.message));
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) complaints.push(message.text());
  });
  await page.goto(`${origin}${path}`);
  return page;
}

/** The whole reference has hundreds of tables; a few operations of three groups have all that there is. */
const KEEP_THREE = `document.querySelectorAll('.group').forEach((group, index) => index > 2 && group.remove());
  document.querySelectorAll('.group').forEach((group) =>
    group.querySelectorAll('.operation').forEach((operation, index) => index > 3 && operation.remove()));
  document.querySelectorAll('nav a').forEach((link) =>
    link.hash && !document.getElementById(link.hash.slice(1)) && link.closest('li')?.remove())`;

describe('the reference', () => {
  it('is compressed, kept by browsers and looked for again', async () => {
    const { origin } = service.server;
    for (const path of ['/docs', '/docs/wallets', '/docs/es/wallets', '/docs/search.json']) {
      const first = await fetch(origin + path, { headers: { 'accept-encoding': 'br' } });
      expect([first.status, first.headers.get('content-encoding')], path).toEqual([200, 'br']);
      const again = await send(origin + path, { headers: { 'if-none-match': first.headers.get('etag') ?? '' } });
      expect([again.status, again.text], path).toEqual([304, '']);
    }
    expect((await send(`${origin}/docs/nothing`)).status).toBe(404);
  });

  it(
    'shows examples in four languages, remembers the choice and copies what it shows',
    async () => {
      const page = await open('/docs#createGift');
      const section = page.locator('#createGift');
      const code = section.locator('pre.curl code');
      expect(await code.textContent()).toContain('curl -X POST');
      const choice = section.getByLabel('Language of the examples');
      for (const [name, text] of [
        ['Python', 'requests.request('],
        ['Go', 'http.NewRequest("POST"'],
        ['TypeScript', 'await fetch('],
      ] as const) {
        await choice.selectOption({ label: name });
        expect(await code.textContent()).toContain(text);
      }
      await section.getByRole('button', { name: 'Copy' }).first().click();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(await code.textContent());
      await page.reload();
      expect(await page.locator('#getSku pre.curl code').textContent()).toContain('await fetch(');
    },
    LIMIT_MS,
  );

  it(
    'sends a request with the keys of development, and none with those of production',
    async () => {
      const { publicKey, secretKey } = service.server.credentials;
      const page = await open('/docs#listSkus');
      const section = page.locator('#listSkus');
      await section.locator('summary', { hasText: 'Try it' }).click();
      await section.getByLabel('Public key').fill('pk_prod_x');
      await section.getByRole('button', { name: 'Send' }).click();
      await section.getByRole('alert').getByText('Only keys of development').waitFor();
      await section.getByLabel('Public key').fill(publicKey);
      await section.getByLabel('Secret key').fill(secretKey);
      await section.getByLabel('Address').fill('/v1/skus?limit=1');
      await section.getByRole('button', { name: 'Send' }).click();
      await section.getByText(/Answer: 200/).waitFor();
      expect(await section.locator('.try-answer code').textContent()).toContain('"totalPages"');
    },
    LIMIT_MS,
  );

  it(
    'finds operations and guides, and its sidebar follows the reader',
    async () => {
      const page = await open('/docs');
      await page.keyboard.press('/');
      await page.keyboard.type('rotate secret');
      const results = page.locator('.results a');
      await results.filter({ hasText: 'POST /organization/webhooks/{id}/rotate-secret' }).waitFor();
      await page.getByLabel('Search the docs').fill('codigos de regalo');
      await results.filter({ hasText: 'Primeros pasos' }).first().waitFor();
      await page.getByLabel('Search the docs').fill('');
      await page.goto(`${service.server.origin}/docs#redeemGift`);
      await page.locator('nav a[href="#redeemGift"][aria-current]').waitFor();
      await expect.poll(() => page.locator('nav a[href="#redeemGift"]').isVisible()).toBe(true);
    },
    LIMIT_MS,
  );

  it(
    'is accessible in both colours, on a desktop and on a phone',
    async () => {
      const page = await open('/docs');
      await page.evaluate(KEEP_THREE);
      await page.locator('summary', { hasText: 'Try it' }).first().click();
      await expectAccessibleEverywhere(page, 'docs');
    },
    LIMIT_MS,
  );
});

describe('a guide', () => {
  it.each(['/docs/wallets', '/docs/es/gifts'])(
    'is accessible in both colours, on a desktop and on a phone: %s',
    async (path) => {
      const page = await open(path);
      await expectAccessibleEverywhere(page, path.slice(1).replaceAll('/', '-'));
    },
    LIMIT_MS,
  );

  it(
    'leads to the others, to its translation and to the reference, and is dark where that was chosen',
    async () => {
      const page = await open('/docs/gifts', phone);
      await page.getByRole('link', { name: 'Español' }).click();
      await page.getByRole('heading', { level: 1, name: 'Regalos' }).waitFor();
      expect(await page.evaluate('document.documentElement.lang')).toBe('es');
      await page.getByRole('link', { name: 'Contenido', exact: true }).click();
      await page.getByLabel('Colores').selectOption('dark');
      await page.getByRole('link', { name: 'Referencia', exact: true }).click();
      await page.getByRole('heading', { level: 1, name: 'svc reference' }).waitFor();
      // The script runs after the heading is there.
      await expect.poll(() => page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
    },
    LIMIT_MS,
  );
});
