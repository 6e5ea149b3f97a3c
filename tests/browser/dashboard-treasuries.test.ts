import type { TreasuryProposal } from '@svc/protocol';
import { createSvc } from '@svc/sdk';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openReceiver, type Receiver } from '../../packages/server/testing/receiver.ts';
import { Owner } from '../support/app.ts';
import { signedInContext } from '../support/members.ts';
import type { AnyService } from '../support/service.ts';
import { USDC } from '../support/starknet-client.ts';
import { newTreasury, signAs } from '../support/treasuries.ts';
import { addAuthenticator } from './support/authenticator.ts';
import { BROWSER_LIMIT_MS } from './support/chromium.ts';
import {
  type Dashboards,
  desktop,
  expectAccessible,
  expectAccessibleEverywhere,
  openDashboards,
} from './support/dashboard.ts';

const LIMIT_MS = 400_000;
const STEP_LIMIT_MS = 60_000;
const PIN = '481516';

let dashboards: Dashboards;
let service: AnyService;
let receiver: Receiver;
/** Browsers have passkeys for localhost, not for addresses. */
let origin: string;
beforeAll(async () => {
  receiver = await openReceiver((response) => void response.writeHead(200).end());
  dashboards = await openDashboards();
  service = dashboards.service;
  origin = service.server.origin.replace('127.0.0.1', 'localhost');
}, BROWSER_LIMIT_MS);
afterAll(async () => {
  await dashboards?.stop();
  receiver.close();
});

/** Toasts are dialogs, too. */
const dialog = (page: Page) => page.locator('.dialog');
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).first();

async function memberPage(role: 'OWNER' | 'DEVELOPER', name: string, locale = 'en-GB'): Promise<Page> {
  const context = await signedInContext(dashboards.browser, service, role, {
    name,
    context: { viewport: desktop, locale, reducedMotion: 'reduce' },
  });
  const value = context.member.token;
  await context.addCookies([{ name: 'svc_session', value, url: origin, httpOnly: true, sameSite: 'Lax' }]);
  const page = await context.newPage();
  page.setDefaultTimeout(STEP_LIMIT_MS);
  return page;
}

type Unlock = (page: Page) => Promise<void>;

async function opened(page: Page): Promise<void> {
  const failed = dialog(page).getByRole('alert');
  await Promise.race([dialog(page).waitFor({ state: 'detached' }), failed.waitFor()]);
  expect(await failed.allTextContents()).toEqual([]);
}

const withPin: Unlock = async (page) => {
  await dialog(page).getByLabel('PIN or passphrase').fill(PIN);
  await dialog(page).getByRole('button', { name: 'Unlock' }).click();
  await opened(page);
};

const withPasskey: Unlock = async (page) => {
  await dialog(page).getByRole('button', { name: 'Use my passkey' }).click();
  await opened(page);
};

/** Makes the member's wallet on first use. */
async function publicKeyOf(page: Page, unlock: Unlock): Promise<string> {
  await page.goto(`${origin}/dashboard/treasuries`);
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
      await addAuthenticator(luis);
      const keys = [
        await publicKeyOf(ana, withPin),
        // The first time a passkey needs the PIN that is its backup.
        await publicKeyOf(luis, async (page) => {
          await dialog(page).getByLabel('PIN or passphrase').fill(PIN);
          await expectAccessible(page, 'treasury-unlock');
          await withPasskey(page);
        }),
        new Owner().publicKey,
      ];

      await button(ana, 'Create treasury').click();
      await dialog(ana).getByLabel('Name').first().fill('Caja');
      for (const [index, name] of ['Ana', 'Luis', 'Eva'].entries()) {
        const signer = dialog(ana).getByRole('group', { name: `Signer ${index + 1}` });
        await signer.getByLabel('Name').fill(name);
        await signer.getByLabel('Public key').fill(keys[index] ?? '');
      }
      await expectAccessibleEverywhere(ana, 'treasury-create');
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
      await expectAccessibleEverywhere(ana, 'treasury-payment');
      await dialog(ana).getByRole('button', { name: 'Propose payment' }).click();
      await ana.getByText('Pay 2.5 USDC to').waitFor();
      await button(ana, 'Sign').click();
      await withPin(ana);
      await ana.getByText('Signatures: 1 of 2').waitFor();

      await luis.goto(ana.url());
      await luis.getByText('Pay 2.5 USDC to').waitFor();
      await button(luis, 'Sign').click();
      await withPasskey(luis);
      await luis.getByText('Ready').first().waitFor();

      await button(ana, 'Execute').click();
      await dialog(ana).getByRole('button', { name: 'Execute' }).click();
      await ana.getByText('Executed').first().waitFor();
      await expectAccessibleEverywhere(ana, 'treasury-proposal');
      await ana.getByRole('link', { name: 'Caja' }).first().click();
      await ana.getByText('November rent').first().waitFor();
      await expectAccessibleEverywhere(ana, 'treasury');
      await ana.getByRole('link', { name: 'Treasuries' }).first().click();
      await ana.getByRole('link', { name: 'Caja' }).first().waitFor();
      await expectAccessibleEverywhere(ana, 'treasuries');

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

describe('in Spanish', () => {
  it(
    'signers, threshold and limits change by a proposal, and calls of any contract are proposed and decoded',
    async () => {
      const [ana, luis] = [new Owner(), new Owner()];
      const treasury = await newTreasury(service.app, { signers: [ana], threshold: 1 });
      const page = await memberPage('OWNER', 'Eva', 'es-MX');
      await page.goto(`${origin}/dashboard/treasuries/${treasury.id}`);

      await button(page, 'Proponer firmantes y límites').click();
      await dialog(page).getByLabel('Firmas necesarias').fill('2');
      await dialog(page).getByRole('button', { name: 'Agregar firmante' }).click();
      const second = dialog(page).getByRole('group', { name: 'Firmante 2' });
      await second.getByLabel('Nombre').fill('Luis');
      await second.getByLabel('Clave pública').fill(luis.publicKey);
      await dialog(page).getByRole('button', { name: 'Agregar límite' }).click();
      await dialog(page).getByRole('group', { name: 'Límite 1' }).getByLabel('Hasta').fill('5');
      await expectAccessibleEverywhere(page, 'treasury-policy');
      await dialog(page).getByRole('button', { name: 'Proponer firmantes y límites' }).click();
      await page.getByText('Que aprueben 2 de 2 firmantes').waitFor();
      await page.getByText('Que 1 firmante pague hasta 5 USDC en 1 día').waitFor();

      const proposalId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
      const { body } = await service.app.get(`/treasuries/${treasury.id}/transactions/${proposalId}`);
      expect(await signAs(service.app, treasury, body as TreasuryProposal, ana)).toMatchObject({ status: 200 });
      await button(page, 'Ejecutar').click();
      await dialog(page).getByRole('button', { name: 'Ejecutar' }).click();
      await page.getByText('Ejecutada').first().waitFor();
      await page.goto(`${origin}/dashboard/treasuries/${treasury.id}`);
      await page.getByText('5 USDC en 1 día con 1 firma', { exact: true }).waitFor();
      await page.getByText('2 de 2').first().waitFor();

      await button(page, 'Proponer llamadas').click();
      const first = dialog(page).getByRole('group', { name: 'Llamada 1' });
      await first.getByLabel('Dirección del contrato').fill(USDC);
      await first.getByLabel('Función').fill('approve');
      await first.getByLabel('Valores').fill('0xb0b, 1500000\n0');
      await dialog(page).getByRole('button', { name: 'Agregar llamada' }).click();
      const other = dialog(page).getByRole('group', { name: 'Llamada 2' });
      await other.getByLabel('Dirección del contrato').fill(USDC);
      await other.getByLabel('Función').fill('balance_of');
      await other.getByLabel('Valores').fill('0xb0b5');
      await expectAccessibleEverywhere(page, 'treasury-calls');
      await dialog(page).getByRole('button', { name: 'Proponer llamadas' }).click();
      await page.getByText('Permitir tomar 1.5 USDC').waitFor();
      await page.getByText('Llamar a un contrato').waitFor();
      await page.getByText('0xb0b5', { exact: true }).waitFor();
      await page.getByText('Firmas: 0 de 2').waitFor();
      await expectAccessibleEverywhere(page, 'treasury-calls-proposal');
    },
    LIMIT_MS,
  );
});
