import { createSvc } from '@svc/sdk';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openReceiver, type Receiver } from '../../packages/server/testing/receiver.ts';
import { Owner } from '../support/app.ts';
import { signedInContext } from '../support/members.ts';
import type { AnyService } from '../support/service.ts';
import { BROWSER_LIMIT_MS } from './support/chromium.ts';
import { type Dashboards, desktop, expectAccessibleEverywhere, openDashboards } from './support/dashboard.ts';

const LIMIT_MS = 240_000;
const PIN = '481516';

let dashboards: Dashboards;
let service: AnyService;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await openReceiver((response) => void response.writeHead(200).end());
  dashboards = await openDashboards();
  service = dashboards.service;
}, BROWSER_LIMIT_MS);
afterAll(async () => {
  await dashboards?.stop();
  receiver.close();
});

/** Toasts are dialogs, too. */
const dialog = (page: Page) => page.locator('.dialog');
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).first();

async function memberPage(role: 'OWNER' | 'DEVELOPER', name: string): Promise<Page> {
  const context = await signedInContext(dashboards.browser, service, role, {
    name,
    context: { viewport: desktop, locale: 'en-GB' },
  });
  return context.newPage();
}

async function unlock(page: Page): Promise<void> {
  await dialog(page).getByLabel('PIN or passphrase').fill(PIN);
  await dialog(page).getByRole('button', { name: 'Unlock' }).click();
  const failed = dialog(page).getByRole('alert');
  await Promise.race([
    dialog(page).waitFor({ state: 'detached', timeout: 60_000 }),
    failed.waitFor({ timeout: 60_000 }),
  ]);
  expect(await failed.allTextContents()).toEqual([]);
}

/** Makes the member's wallet on first use. */
async function publicKeyOf(page: Page): Promise<string> {
  await page.goto(`${service.server.origin}/dashboard/treasuries`);
  await button(page, 'Show public key').click();
  await unlock(page);
  const text = await page
    .getByText(/^0x[0-9a-f]{50,}$/)
    .first()
    .textContent();
  return text ?? '';
}

describe('a treasury of two of three', () => {
  it(
    'pays from proposal to receipt: members sign in their browsers, a webhook tells the hash',
    async () => {
      const recipient = new Owner().address;
      const earlier = receiver.received.length;
      await service.app.webhook(receiver.url, { eventTypes: ['treasury.proposal.executed'] });
      const [ana, luis] = [await memberPage('OWNER', 'Ana'), await memberPage('DEVELOPER', 'Luis')];
      const keys = [await publicKeyOf(ana), await publicKeyOf(luis), new Owner().publicKey];

      await button(ana, 'Create treasury').click();
      await dialog(ana).getByLabel('Name').first().fill('Caja');
      for (const [index, name] of ['Ana', 'Luis', 'Eva'].entries()) {
        const signer = dialog(ana).getByRole('group', { name: `Signer ${index + 1}` });
        await signer.getByLabel('Name').fill(name);
        await signer.getByLabel('Public key').fill(keys[index] ?? '');
      }
      await dialog(ana).getByRole('button', { name: 'Create treasury' }).click();
      await ana.getByRole('heading', { name: 'Caja' }).waitFor();
      await ana.getByText('2 of 3').first().waitFor();
      const id = new URL(ana.url()).pathname.split('/').at(-1) ?? '';
      const { address } = (await service.app.get(`/treasuries/${id}`)).body as { address: string };
      await service.sandbox.faucet(address, 'USDC', '10');
      await ana.getByText('Deployed').first().waitFor();

      await button(ana, 'Propose payment').click();
      await dialog(ana).getByLabel('Recipient').fill(recipient);
      await dialog(ana).getByLabel('Amount').fill('2.5');
      await dialog(ana).getByLabel('Description').fill('November rent');
      await dialog(ana).getByRole('button', { name: 'Propose payment' }).click();
      await ana.getByText('Pay 2.5 USDC to').waitFor();
      await button(ana, 'Sign').click();
      await unlock(ana);
      await ana.getByText('Signatures: 1 of 2').waitFor();

      await luis.goto(ana.url());
      await luis.getByText('Pay 2.5 USDC to').waitFor();
      await button(luis, 'Sign').click();
      await unlock(luis);
      await luis.getByText('Ready').first().waitFor();

      await button(ana, 'Execute').click();
      await dialog(ana).getByRole('button', { name: 'Execute' }).click();
      await ana.getByText('Executed').first().waitFor({ timeout: 60_000 });
      await expectAccessibleEverywhere(ana, 'treasury-proposal');
      await ana.getByRole('link', { name: 'Caja' }).first().click();
      await ana.getByText('November rent').first().waitFor();
      await expectAccessibleEverywhere(ana, 'treasury');

      await receiver.until(earlier + 1);
      const { data } = JSON.parse(String(receiver.received[earlier]?.body)) as { data: { executedTxHash: string } };
      const { baseUrl, publicKey, secretKey } = service.server.credentials;
      const svc = createSvc({ baseUrl, publicKey, secretKey });
      const receipt = await svc.waitForTransaction(data.executedTxHash, { retryIntervalMs: 50 });
      expect(receipt).toMatchObject({ transactionHash: expect.any(String) });
      expect(await service.app.balance(recipient, 'USDC')).toBe(2_500_000n);
    },
    LIMIT_MS,
  );
});
