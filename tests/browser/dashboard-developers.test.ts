import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../packages/server/src/util/ids.ts';
import { openReceiver, type Receiver } from '../../packages/server/testing/receiver.ts';
import { send, userToken } from '../support/client.ts';
import { type SignedIn, signedInContext } from '../support/members.ts';
import type { AnyService } from '../support/service.ts';
import { BROWSER_LIMIT_MS } from './support/chromium.ts';
import { barriers } from './support/claim-visits.ts';
import {
  type Dashboards,
  desktop,
  expectAccessibleEverywhere,
  follow,
  openDashboards,
  phone,
} from './support/dashboard.ts';

const LIMIT_MS = 120_000;
/** One pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

let dashboards: Dashboards;
let service: AnyService;
let browser: Browser;
let receiver: Receiver;
let context: BrowserContext & { readonly member: SignedIn };
beforeAll(async () => {
  receiver = await openReceiver((response) => void response.writeHead(200).end('thank you'));
  dashboards = await openDashboards();
  ({ service, browser } = dashboards);
  const options = { viewport: desktop, locale: 'en-GB', reducedMotion: 'reduce' } as const;
  context = await signedInContext(browser, service, 'OWNER', { email: 'ana@tienda.example', context: options });
}, BROWSER_LIMIT_MS);
afterAll(async () => {
  await dashboards?.stop();
  receiver.close();
});

async function open(path: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${service.server.origin}/dashboard${path}`);
  return page;
}
const loaded = (page: Page) => page.locator('.skeleton').first().waitFor({ state: 'detached' });
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first();
const inDialog = (page: Page) => page.getByRole('dialog');

describe('the developer pages', () => {
  it(
    'create a webhook, send a test, show the payload and the answer, and replay it',
    async () => {
      const earlier = receiver.received.length;
      const page = await open('/developers/webhooks');
      await button(page, 'Add webhook').click();
      await inDialog(page).getByLabel('Address').fill(receiver.url);
      await inDialog(page).getByRole('switch', { name: 'All events' }).click();
      await inDialog(page).getByLabel('wallet.created').check();
      await inDialog(page).getByLabel('gift.redeemed', { exact: true }).check();
      await inDialog(page).getByRole('button', { name: 'Add webhook' }).click();
      await inDialog(page)
        .getByText(/^whsec_/)
        .first()
        .waitFor();
      await inDialog(page).getByRole('button', { name: 'I have stored it' }).click();
      await page.getByText('wallet.created, gift.redeemed').waitFor();

      await button(page, 'Send a test').click();
      await page.getByRole('cell', { name: 'Delivered' }).first().waitFor();
      await page.getByRole('link', { name: 'webhook.test' }).first().click();
      await inDialog(page).getByText('This is a test. Nothing has happened.').waitFor();
      await inDialog(page).getByText('HTTP 200').waitFor();
      await inDialog(page).getByText('thank you').waitFor();
      await inDialog(page).getByRole('button', { name: 'Send again' }).click();
      await receiver.until(earlier + 2);
      const ids = receiver.received.slice(earlier).map(({ headers }) => headers['webhook-id']);
      expect(new Set(ids).size).toBe(1);
      await page.close();
    },
    LIMIT_MS,
  );

  it(
    'create a secret key that works, and revoke it, after which the interface refuses it',
    async () => {
      const page = await open('/developers/keys');
      await button(page, 'Create key').click();
      await inDialog(page).getByRole('button', { name: 'Create key' }).click();
      const shown = inDialog(page).getByText(/^sk_dev_\w+$/);
      await shown.waitFor();
      const secretKey = (await shown.textContent()) ?? '';
      await inDialog(page).getByRole('button', { name: 'I have stored it' }).click();
      const { baseUrl, publicKey } = service.server.credentials;
      const ask = async () => {
        const headers = { 'x-api-key': publicKey, authorization: `Bearer ${secretKey}` };
        return (await send(`${baseUrl}/organization`, { headers })).status;
      };
      expect(await ask()).toBe(200);
      const row = page.getByRole('row').filter({ hasText: secretKey.slice(-4) });
      await row.getByRole('button', { name: 'Revoke' }).click();
      await inDialog(page).getByRole('button', { name: 'Revoke' }).click();
      await row.getByText('Revoked').waitFor();
      expect(await ask()).toBe(401);
      await page.close();
    },
    LIMIT_MS,
  );

  it(
    'say of a good token whose it is, and of a bad one what is wrong',
    async () => {
      const page = await open('/developers/users');
      await page.getByLabel('Token', { exact: true }).fill(await userToken(service.server, 'user-77'));
      await button(page, 'Check token').click();
      await page.getByText('It speaks for the user user-77.').waitFor();
      await page.getByLabel('Token', { exact: true }).fill('eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln');
      await button(page, 'Check token').click();
      await page.getByText('This token is refused.').waitFor();
      await page.getByText('HS256 is not one of').waitFor();
      await page.close();
    },
    LIMIT_MS,
  );

  it(
    'brand the claim page, which stays without barriers, and the audit log names the member',
    async () => {
      const page = await open('/settings/branding');
      const name = newId('Tienda');
      await page.getByLabel('Name').fill(name);
      await page.getByPlaceholder('#a11d4a').fill('#ffd400');
      const logo = { name: 'logo.png', mimeType: 'image/png', buffer: Buffer.from(PNG, 'base64') };
      await page.getByLabel('Logo', { exact: true }).setInputFiles(logo);
      await button(page, 'Save changes').click();
      await page.getByText('Saved').first().waitFor();

      const { code } = await service.gift();
      const claim = await browser.newPage({ viewport: phone, locale: 'en-GB' });
      await claim.goto(`${service.server.origin}/claim/${code}`);
      await claim.getByText(`from ${name}`).waitFor();
      const image = claim.getByRole('img', { name });
      await image.waitFor();
      expect(await image.evaluate((element) => (element as unknown as { naturalWidth: number }).naturalWidth)).toBe(1);
      const background = 'getComputedStyle(document.querySelector("button.main")).backgroundColor';
      expect(await claim.evaluate(background)).toBe('rgb(255, 212, 0)');
      expect(await barriers(claim)).toEqual([]);
      await claim.emulateMedia({ colorScheme: 'dark' });
      expect(await barriers(claim)).toEqual([]);
      await claim.close();

      await page.goto(`${service.server.origin}/dashboard/settings/audit-log`);
      const row = page.getByRole('row').filter({ hasText: 'branding.updated' }).first();
      await row.getByText('ana@tienda.example').waitFor();
      await row.getByRole('button', { name: 'Show changes' }).click();
      await inDialog(page).getByText(name).waitFor();
      await page.close();
    },
    LIMIT_MS,
  );

  it(
    'change the mail address and the rules of gifts',
    async () => {
      const page = await open('/settings');
      const notificationEmail = `${newId('avisos')}@tienda.example`;
      await page.getByLabel('E-mail address').fill(notificationEmail);
      await button(page, 'Save changes').click();
      await page.getByText('Saved').first().waitFor();
      const { body } = await service.app.get('/organization/settings');
      expect(body).toMatchObject({ notificationEmail });
      await page.close();
    },
    LIMIT_MS,
  );

  it(
    'have no barriers, light and dark, wide and narrow, and fit a phone',
    async () => {
      const { id } = await service.webhook('https://hooks.tienda.example/svc');
      const paths = {
        '/developers/keys': 'API keys',
        '/developers/users': 'Users',
        '/developers/webhooks': 'Webhooks',
        [`/developers/webhooks/${id}`]: 'hooks.tienda.example',
        '/developers/events': 'Events',
        '/settings': 'Organisation',
        '/settings/branding': 'Branding',
        '/settings/audit-log': 'Audit log',
      };
      const page = await context.newPage();
      await page.goto(`${service.server.origin}/dashboard/developers/keys`);
      for (const [path, title] of Object.entries(paths)) {
        await follow(page, path);
        await page.getByRole('heading', { level: 1, name: title }).waitFor();
        await loaded(page);
        await expectAccessibleEverywhere(page);
      }
      await page.close();
    },
    LIMIT_MS,
  );
});

it(
  'a viewer sees the pages without what changes anything',
  async () => {
    const viewer = await signedInContext(browser, service, 'VIEWER', {
      context: { viewport: desktop, locale: 'en-GB' },
    });
    const page = await viewer.newPage();
    const hidden = [
      ['/developers/keys', 'API keys', 'Create key'],
      ['/developers/webhooks', 'Webhooks', 'Add webhook'],
      ['/settings/branding', 'Branding', 'Save changes'],
      ['/settings', 'Organisation', 'Save changes'],
    ] as const;
    await page.goto(`${service.server.origin}/dashboard/developers/keys`);
    for (const [path, title, name] of hidden) {
      await follow(page, path);
      await page.getByRole('heading', { level: 1, name: title }).waitFor();
      await loaded(page);
      await expect.poll(() => page.getByRole('button', { name }).count()).toBe(0);
    }
    await viewer.close();
  },
  LIMIT_MS,
);
