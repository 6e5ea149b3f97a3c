import type { Page } from 'playwright-core';
import { encodeQR } from 'qr';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cameraShowing } from './support/camera.ts';
import { BROWSER_LIMIT_MS } from './support/chromium.ts';
import { button, type ClaimVisits, desktop, fits, heading, openClaimVisits, phone } from './support/claim-visits.ts';
import { invalid, paid, started, state } from './support/fake-claims.ts';

const STORY_LIMIT_MS = 90_000;
const starknet = `0x04${'a1b2c3d4e5f60718'.repeat(4).slice(2)}`;
const solana = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM';

let visits: ClaimVisits;
beforeAll(async () => {
  visits = await openClaimVisits();
}, BROWSER_LIMIT_MS);
afterAll(() => visits?.stop());

async function goTo(page: Page, chain: 'Starknet' | 'Solana'): Promise<void> {
  await button(page, 'Get my gift').click();
  await button(page, chain).click();
}

async function fillIn(page: Page, chain: 'Starknet' | 'Solana', address: string): Promise<void> {
  await goTo(page, chain);
  await page.getByLabel(`Your ${chain} wallet address`).fill(address);
  await button(page, 'Continue').click();
}

describe.each([
  ['a phone', phone],
  ['a desktop', desktop],
])('on %s', (_, viewport) => {
  it(
    'a gift is shown and sent to Starknet once, however often the button is pressed',
    async () => {
      const { page, claims, complaints } = await visits.open({ viewport });
      claims.redeems = [paid(starknet)];
      await page.getByText('25.50 USDC').waitFor();
      await page.getByText('from Tienda Ejemplo').waitFor();
      expect(await fits(page)).toBe(true);
      await fillIn(page, 'Starknet', ` starknet:${starknet}\n`);
      expect(await fits(page)).toBe(true);
      await button(page, 'Yes, send it to me').dblclick();
      await heading(page).getByText('Your gift has arrived!').waitFor();
      expect(claims.sent.map(({ body }) => body)).toEqual([{ walletAddress: starknet, chain: 'starknet' }]);
      expect(await page.locator('dd').last().textContent()).toBe('0xfeed');
      expect(await fits(page)).toBe(true);
      expect(complaints).toEqual([]);
    },
    STORY_LIMIT_MS,
  );

  it(
    'a gift is bridged to Solana step by step',
    async () => {
      const { page, claims, complaints } = await visits.open({ viewport });
      claims.redeems = [started];
      claims.states = [state('BRIDGING')];
      await fillIn(page, 'Solana', solana);
      await button(page, 'Yes, send it to me').click();
      await page.getByText('Travelling to Solana: now').waitFor();
      claims.states = [state('ATTESTED')];
      await page.getByText('Arriving in your wallet: now').waitFor();
      claims.states = [state('SUCCESS', 'sol5ig')];
      await heading(page).getByText('Your gift has arrived!').waitFor();
      expect(await page.locator('dd').last().textContent()).toBe('sol5ig');
      expect(claims.sent).toHaveLength(1);
      expect(complaints).toEqual([]);
    },
    STORY_LIMIT_MS,
  );
});

describe('a redeem in progress', () => {
  it(
    'is followed after a reload, not started again',
    async () => {
      const { page, claims } = await visits.open();
      claims.redeems = [started];
      claims.states = [state('BRIDGING')];
      await fillIn(page, 'Solana', solana);
      await button(page, 'Yes, send it to me').click();
      await page.getByText('Travelling to Solana: now').waitFor();
      await page.reload();
      await heading(page).getByText('Your gift is on its way').waitFor();
      claims.states = [state('SUCCESS', 'sol5ig')];
      await heading(page).getByText('Your gift has arrived!').waitFor();
      await page.reload();
      await heading(page).getByText('Your gift has arrived!').waitFor();
      expect(claims.sent).toHaveLength(1);
    },
    STORY_LIMIT_MS,
  );

  it(
    'without an answer is requested again with the same key, also after a reload',
    async () => {
      const { page, claims } = await visits.open();
      claims.redeems = ['lost'];
      await fillIn(page, 'Starknet', starknet);
      await button(page, 'Yes, send it to me').click();
      await heading(page).getByText('Your gift is on its way').waitFor();
      await expect.poll(() => claims.sent.length).toBe(2);
      claims.redeems = [paid(starknet)];
      await page.reload();
      await heading(page).getByText('Your gift has arrived!').waitFor();
      expect(new Set(claims.sent.map(({ key }) => key)).size).toBe(1);
    },
    STORY_LIMIT_MS,
  );

  it(
    'allows other wallets to redeem once it has ended, with new keys',
    async () => {
      const { page, claims } = await visits.open();
      claims.redeems = [paid(starknet)];
      for (const _ of ['first', 'second']) {
        await fillIn(page, 'Starknet', starknet);
        await button(page, 'Yes, send it to me').click();
        await button(page, 'Use this code for another wallet').click();
      }
      expect(new Set(claims.sent.map(({ key }) => key)).size).toBe(2);
    },
    STORY_LIMIT_MS,
  );
});

describe('a receipt', () => {
  it('stays if the code cannot be redeemed by another wallet', async () => {
    const { page, claims } = await visits.open();
    claims.redeems = [paid(starknet)];
    await fillIn(page, 'Starknet', starknet);
    await button(page, 'Yes, send it to me').click();
    claims.claims = ['lost', invalid('Gift redemption limit reached')];
    await button(page, 'Use this code for another wallet').click();
    await button(page, 'Try again').click();
    await heading(page).getByText('This gift has been collected').waitFor();
    await page.reload();
    await heading(page).getByText('Your gift has arrived!').waitFor();
  });
});

describe('an address', () => {
  it.each([
    ['of Ethereum', `0x${'a1'.repeat(20)}`, 'This looks like an Ethereum address'],
    ['cut off', starknet.slice(0, 40), 'Not complete yet'],
    ['of nothing', 'hello grandma', 'This is not a Starknet address'],
    ['of the other network', solana, 'This is a Solana address'],
  ])('%s is explained and not sent to', async (_, address, words) => {
    const { page, claims } = await visits.open();
    await fillIn(page, 'Starknet', address);
    await page.getByText(words).waitFor();
    await heading(page).getByText('Where is your Starknet wallet?').waitFor();
    expect(claims.sent).toEqual([]);
  });

  it('of the other network offers to change the network', async () => {
    const { page } = await visits.open();
    await fillIn(page, 'Starknet', solana);
    await button(page, 'Send it on Solana').click();
    await page.getByText('This address looks right.').waitFor();
  });

  it('is pasted by the button', async () => {
    const { page } = await visits.open({ permissions: ['clipboard-read', 'clipboard-write'] });
    await goTo(page, 'Starknet');
    await page.evaluate(`navigator.clipboard.writeText('${starknet}')`);
    await button(page, 'Paste').click();
    await page.getByText('This address looks right.').waitFor();
  });

  it('is read from a picture where there is no camera', async () => {
    const { page, complaints } = await visits.open();
    await goTo(page, 'Starknet');
    await button(page, 'Scan a QR code').click();
    await page.getByText('The camera cannot be used.').waitFor();
    const buffer = Buffer.from(encodeQR(`starknet:${starknet}`, 'gif', { scale: 6 }));
    await page.getByLabel('Choose a picture').setInputFiles({ name: 'qr.gif', mimeType: 'image/gif', buffer });
    await page.getByText('This address looks right.').waitFor();
    expect(complaints).toEqual([]);
  });

  it('is read by the camera, which opens on demand and closes afterwards', async () => {
    const { page } = await visits.open({ script: cameraShowing(`solana:${solana}?amount=1`) });
    await goTo(page, 'Solana');
    expect(await page.evaluate('camera.opened')).toBe(0);
    await button(page, 'Scan a QR code').click();
    await page.getByText('This address looks right.').waitFor();
    expect(await page.getByLabel('Your Solana wallet address').inputValue()).toBe(solana);
    expect(await page.evaluate("camera.stream.getTracks().every((track) => track.readyState === 'ended')")).toBe(true);
  });
});
