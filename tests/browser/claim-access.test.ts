import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BROWSER_LIMIT_MS } from './support/chromium.ts';
import {
  barriers,
  button,
  type ClaimVisits,
  desktop,
  heading,
  openClaimVisits,
  phone,
} from './support/claim-visits.ts';
import { paid, started, state } from './support/fake-claims.ts';

const STORY_LIMIT_MS = 90_000;
const MAX_TABS = 20;
const starknet = `0x04${'a1b2c3d4e5f60718'.repeat(4).slice(2)}`;
const solana = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM';

let visits: ClaimVisits;
beforeAll(async () => {
  visits = await openClaimVisits();
}, BROWSER_LIMIT_MS);
afterAll(() => visits?.stop());

const focused = (page: Page) => page.evaluate('document.activeElement?.innerText || document.activeElement?.id || ""');

/** Presses Tab until the focus is on the label. */
async function tabTo(page: Page, label: string): Promise<void> {
  for (let tabs = 0; tabs < MAX_TABS; tabs++) {
    await page.keyboard.press('Tab');
    if (String(await focused(page)).startsWith(label)) return;
  }
  throw new Error(`Tab does not lead to ${label}.`);
}

describe('without a mouse', () => {
  it(
    'a gift is redeemed with the keyboard alone, and the focus is always on what changed',
    async () => {
      const { page } = await visits.open({ viewport: desktop, prepare: (fake) => (fake.redeems = [paid(starknet)]) });
      await heading(page).getByText('You have a gift!').waitFor();
      await tabTo(page, 'Get my gift');
      await page.keyboard.press('Enter');
      await expect.poll(() => focused(page)).toBe('Which network does your wallet use?');
      await tabTo(page, 'Starknet');
      await page.keyboard.press('Space');
      await expect.poll(() => focused(page)).toBe('Where is your Starknet wallet?');
      await tabTo(page, 'address');
      await page.keyboard.type(starknet);
      await page.keyboard.press('Enter');
      await expect.poll(() => focused(page)).toBe('Is this right?');
      await tabTo(page, 'Yes, send it to me');
      await page.keyboard.press('Enter');
      await expect.poll(() => focused(page)).toBe('Your gift has arrived!');
      expect(await page.title()).toBe('Your gift has arrived!');
    },
    STORY_LIMIT_MS,
  );
});

describe.each(['light', 'dark'] as const)('in %s colours', (colorScheme) => {
  it(
    'axe finds nothing in any step',
    async () => {
      const { page, claims } = await visits.open({ viewport: phone, colorScheme, locale: 'es-MX' });
      const passes = async (title: string) => {
        await heading(page).getByText(title).waitFor();
        expect(await barriers(page)).toEqual([]);
      };
      claims.redeems = [started];
      claims.states = [state('BRIDGING')];
      await passes('¡Tienes un regalo!');
      await button(page, 'Recibir mi regalo').click();
      await page.getByText('¿Qué es una billetera y cuál tengo?').click();
      await passes('¿Qué red usa tu billetera?');
      await button(page, 'Solana').click();
      await button(page, 'Continuar').click();
      await page.getByText('Primero pon la dirección').waitFor();
      await button(page, 'Escanear un código QR').click();
      await page.getByText('No se puede usar la cámara.').waitFor();
      await passes('¿Dónde está tu billetera de Solana?');
      await page.getByLabel('La dirección de tu billetera de Solana').fill(solana);
      await page.getByText('La dirección se ve bien.').waitFor();
      await passes('¿Dónde está tu billetera de Solana?');
      await button(page, 'Continuar').click();
      await passes('¿Está bien así?');
      await button(page, 'Sí, envíamelo').click();
      await passes('Tu regalo va en camino');
      claims.states = [state('SUCCESS', 'sol5ig')];
      await passes('¡Tu regalo ya llegó!');
      await page.goto(`${visits.server.origin}/claim`);
      await passes('¿Tienes un código de regalo?');
    },
    STORY_LIMIT_MS,
  );
});

describe('the language', () => {
  it("is the browser's, and after a reload the chosen one", async () => {
    const { page } = await visits.open({ locale: 'es-AR' });
    await heading(page).getByText('¡Tienes un regalo!').waitFor();
    await button(page, 'English').click();
    await heading(page).getByText('You have a gift!').waitFor();
    await page.reload();
    await heading(page).getByText('You have a gift!').waitFor();
  });
});

describe('the page', () => {
  it('works without browser storage', async () => {
    const script = "Object.defineProperty(window, 'localStorage', { get: () => { throw new Error('denied'); } });";
    const { page, complaints } = await visits.open({ script });
    await heading(page).getByText('You have a gift!').waitFor();
    expect(complaints).toEqual([]);
  });

  it('links the receipt to the explorer of the sandbox, and of a live network', async () => {
    const explorers = '{&quot;starknet&quot;:&quot;https://explorer.example/tx/{hash}&quot;}';
    const { page } = await visits.open({ prepare: (fake) => (fake.redeems = [paid(starknet)]) });
    await page.route(`${visits.server.origin}/claim/NAVIDAD`, async (route) => {
      const response = await route.fetch();
      const text = await response.text();
      await route.fulfill({
        response,
        body: text.replace(/svc-explorers" content="[^"]*"/, `svc-explorers" content="${explorers}"`),
      });
    });
    await button(page, 'Get my gift').click();
    await button(page, 'Starknet').click();
    await page.getByLabel('Your Starknet wallet address').fill(starknet);
    await button(page, 'Continue').click();
    await button(page, 'Yes, send it to me').click();
    await button(page, 'Copy the receipt').waitFor();
    const link = page.getByRole('link', { name: 'See the receipt' });
    expect(await link.getAttribute('href')).toBe('../sandbox/explorer/tx/0xfeed');
    await page.reload();
    expect(await link.getAttribute('href')).toBe('https://explorer.example/tx/0xfeed');
  });
});
