import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../packages/server/src/util/ids.ts';
import { field, hashOf, Owner, transferOf } from '../support/app.ts';
import { GiftFixture, newSolanaWallet } from '../support/gifts.ts';
import { shippedSkus } from '../support/service.ts';
import { USDC } from '../support/starknet-client.ts';
import { BROWSER_LIMIT_MS } from './support/chromium.ts';
import {
  button,
  type Dashboards,
  desktop,
  expectAccessible,
  expectAccessibleEverywhere,
  openDashboards,
  phone,
  shows,
} from './support/dashboard.ts';

/** Several polls of the bridge, on a busy machine. */
const STORY_LIMIT_MS = 120_000;
const SLOW = { timeout: STORY_LIMIT_MS };

let dashboards: Dashboards;
let gifts: GiftFixture;
beforeAll(async () => {
  dashboards = await openDashboards();
  gifts = new GiftFixture(dashboards.service);
}, BROWSER_LIMIT_MS);
afterAll(() => dashboards?.stop());

const app = () => dashboards.service.app;

async function bulk(name: string, count: number): Promise<void> {
  const recipients = Array.from({ length: count }, (_, index) => ({ email: `r${index}@example.com` }));
  expect((await app().post('/gifts/bulk', { name, amount: 0.5, recipients })).status).toBe(201);
}

async function upload(page: Page, name: string, content: string): Promise<void> {
  await page.locator('input[type=file]').setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(content) });
}

describe('a gift', () => {
  it('is created with a suggested code, and its link and QR code are there at once', SLOW, async () => {
    const { page, complaints } = await dashboards.open('/gifts/new');
    await shows(page, 'New gift');
    const code = page.getByLabel('Code', { exact: true });
    const first = await code.inputValue();
    await button(page, 'Suggest another').click();
    const second = await code.inputValue();
    expect(second).toMatch(/^[A-Z2-9]{5}-[A-Z2-9]{5}$/);
    expect(second).not.toBe(first);
    await button(page, 'Create gift').click();
    await page.getByText('Give it a name.').waitFor();
    await page.getByLabel('Name').fill('Reyes');
    await page.getByLabel('Amount for each redemption').fill('2.5');
    await page.getByLabel('Redemptions in total').fill('4');
    await page.getByText('$10.00 and an allowance for gas will be held.').waitFor();
    await expectAccessibleEverywhere(page, 'gift-new');
    await button(page, 'Create gift').click();
    await page.getByRole('heading', { name: 'The gift is ready' }).waitFor();
    const link = `${dashboards.service.server.origin}/claim/${second}`;
    expect(await page.getByRole('link', { name: link }).getAttribute('href')).toBe(link);
    await page.getByRole('img', { name: 'QR code with the claim link of Reyes' }).waitFor();
    await expectAccessible(page, 'gift-created');
    expect(complaints).toEqual([]);
  });

  it('is renamed, switched off and deleted, and its credits come back', SLOW, async () => {
    const { id } = await gifts.gift({ name: 'Old name', amount: 5, maxRedeems: 2, maxRedeemsPerUser: 1 });
    const { page } = await dashboards.open(`/gifts/${id}`);
    await shows(page, 'Old name');
    await expectAccessibleEverywhere(page, 'gift');
    await button(page, 'Edit').click();
    await page.getByRole('dialog').getByLabel('Name').fill('New name');
    await button(page, 'Save').click();
    await shows(page, 'New name');
    await button(page, 'Switch off').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Switch off' }).click();
    await page.getByText('Switched off', { exact: true }).waitFor();
    expect((await app().get(`/gifts/${id}`)).body).toMatchObject({ name: 'New name', isActive: false });
    await button(page, 'Delete').click();
    await page.getByText(/\$10\.02\d* of held credits go back/).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText(/^Deleted, \$10\.02\d* released/).waitFor();
    expect((await app().get(`/gifts/${id}`)).status).toBe(404);
  });

  it('is found by the palette by its code', SLOW, async () => {
    const { id, code } = await gifts.gift({ name: 'Hidden' });
    const { page } = await dashboards.open('/gifts');
    await shows(page, 'Gifts');
    await page.keyboard.press('ControlOrMeta+k');
    await page.getByRole('combobox', { name: 'Search' }).fill(code.toLowerCase());
    await page.getByRole('option', { name: /Hidden/ }).click();
    await page.waitForURL(`**/dashboard/gifts/${id}`);
  });
});

describe('an import', () => {
  const rows = Array.from({ length: 500 }, (_, index) => `p${index}@example.com,${index % 2 ? '0.02' : '0.01'},es`);
  const file = ['Correo,Monto,Idioma', ...rows.slice(0, 250), 'not an address,0.01,fr', ...rows.slice(250)].join('\n');

  it('of 501 rows shows the bad one and creates 500 gifts, and its repetition none', SLOW, async () => {
    const campaign = newId('Masivo');
    const total = async () => field<number>(await app().get(`/gifts?campaignName=${campaign}`), 'total');
    const { page, complaints } = await dashboards.open('/gifts/import');
    await shows(page, 'Import gifts');
    await expectAccessibleEverywhere(page, 'gift-import');
    const run = async () => {
      await upload(page, 'people.csv', file);
      await page.getByLabel('Campaign').fill(campaign);
      await button(page, 'Create 500 gifts and mail them').click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText(/500 people get a mail .* pays \$7\.50 in total/).waitFor();
      await dialog.getByRole('button', { name: 'Create 500 gifts and mail them' }).click();
      await page.getByRole('heading', { name: '500 gifts are created' }).waitFor({ timeout: 60_000 });
    };
    await upload(page, 'people.csv', file);
    await page.getByText('Spanish', { exact: true }).first().waitFor();
    await page.getByText('Show only rows with a problem').click();
    await page.getByText('This is no mail address. A language is en or es, or left empty.').waitFor();
    await page.getByRole('cell', { name: '252', exact: true }).waitFor();
    await page.setViewportSize(phone);
    await expectAccessible(page, 'gift-import-preview');
    await page.setViewportSize(desktop);
    await button(page, 'Choose another file').click();

    await run();
    expect(await total()).toBe(500);
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      button(page, 'Download codes and links').click(),
    ]);
    const lines = (await readFile(await saved.path(), 'utf8')).trim().split('\r\n');
    expect(lines).toHaveLength(501);
    expect(lines[1]).toMatch(/^p0@example\.com,[A-Z]{8},http\S+\/claim\/[A-Z]{8},0\.01$/);

    await button(page, 'Import another file').click();
    await run();
    expect(await total()).toBe(500);
    expect(complaints).toEqual([]);
  });

  it('that is refused stops, says why and has created nothing, also when it goes on', SLOW, async () => {
    const taken = await gifts.gift();
    const { page } = await dashboards.open('/gifts/import');
    await upload(page, 'taken.csv', `email,code\na@example.com,${taken.code}\n`);
    await page.getByLabel('Campaign').fill('Ocupado');
    await page.getByLabel('Amount for rows without one').fill('1');
    await button(page, 'Create 1 gifts and mail them').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Create 1 gifts and mail them' }).click();
    await page.getByText(`The gift code ${taken.code} exists already.`, { exact: false }).waitFor();
    await button(page, 'Go on').click();
    await page.getByText(`The gift code ${taken.code} exists already.`, { exact: false }).waitFor();
    expect(field(await app().get('/gifts?campaignName=Ocupado'), 'total')).toBe(0);
  });
});

it('the lists of gifts are filtered, and campaigns lead to theirs', SLOW, async () => {
  const campaign = newId('Lista');
  await bulk(campaign, 2);
  const { page } = await dashboards.open('/gifts?tab=campaigns');
  await page.getByRole('link', { name: campaign, exact: true }).click();
  const table = page.getByRole('table', { name: 'Gifts' });
  await expect.poll(() => table.getByRole('row').count()).toBe(3);
  await expectAccessibleEverywhere(page, 'gifts');
  await page.getByRole('searchbox', { name: 'Code, id or name' }).fill('nothing like it');
  await page.getByText('No gift matches').waitFor();
  await button(page, 'Clear filters').click();
  await page.getByRole('table', { name: 'Gifts' }).waitFor();
});

it('cards are printed eight on a page, without those that were left out', SLOW, async () => {
  const campaign = newId('Tarjetas');
  await bulk(campaign, 20);
  const { page, complaints } = await dashboards.open(`/gifts/cards?campaign=${campaign}`);
  await page.getByText('20 cards').waitFor();
  await expectAccessibleEverywhere(page, 'gift-cards');
  const pagesOf = async (format: string) =>
    (await page.pdf({ format })).toString('latin1').match(/\/Type\s*\/Page\b(?!s)/g)?.length;
  expect([await pagesOf('A4'), await pagesOf('Letter')]).toEqual([3, 3]);
  for (let left = 0; left < 4; left++) await page.getByRole('checkbox').nth(left).uncheck();
  await page.getByText('16 cards').waitFor();
  expect([await pagesOf('A4'), await pagesOf('Letter')]).toEqual([2, 2]);
  await page.emulateMedia({ media: 'print' });
  const boxes = await page.locator('.gift-card:visible').evaluateAll((cards) =>
    cards.map((card) => {
      const { width, height } = card.getBoundingClientRect();
      return width > 0 && height > 0;
    }),
  );
  expect(boxes.filter(Boolean)).toHaveLength(16);
  await expect.poll(() => page.getByRole('navigation', { name: 'Pages' }).isVisible()).toBe(false);
  expect(complaints).toEqual([]);
});

it('a redeem to Solana is followed to its mint, shared and read without a session', SLOW, async () => {
  const { code } = await gifts.gift({ name: 'A Solana', amount: 5, maxRedeems: 1, maxRedeemsPerUser: 1 });
  const wallet = newSolanaWallet();
  const redeemId = await gifts.started(code, wallet);
  const { page, complaints } = await dashboards.open(`/redeems/${redeemId}`);
  await shows(page, 'Redemption of A Solana');
  const step = (name: string, on = page) => on.getByRole('listitem').filter({ hasText: name });
  await step('Minted on Solana').and(page.locator('[data-state=DONE]')).waitFor({ timeout: 90_000 });
  await page.getByText('This page follows the redemption to its end.').waitFor({ state: 'hidden' });
  const end = await gifts.ended(code, redeemId);
  expect(await step('Burned on Starknet').textContent()).toContain(String(end.cctpBurnTxHash));
  expect(await step('Attested by the bridge').textContent()).toMatch(/0x[0-9a-f]{64}/);
  expect(await step('Minted on Solana').textContent()).toContain(String(end.receiveChainTxHash));
  await expectAccessibleEverywhere(page, 'redeem');

  await button(page, 'Share').click();
  await button(page, 'Make link').click();
  const link = await page.getByRole('dialog').getByRole('link').getAttribute('href');
  const place = new URL(link ?? '').pathname.replace(/^\/dashboard/, '');
  const visit = await dashboards.open(place, { role: null });
  await shows(visit.page, 'Redemption of A Solana');
  expect(await step('Minted on Solana', visit.page).textContent()).toContain(String(end.receiveChainTxHash));
  expect(await visit.page.content()).not.toContain(code);
  await expectAccessibleEverywhere(visit.page, 'evidence');
  const broken = await dashboards.open(`${place}x`, { role: null });
  await broken.page.getByText('This link does not work').waitFor();
  await page.reload();
  await button(page, 'Share').click();
  await button(page, 'End all links').click();
  await page.locator('.dialog').getByRole('button', { name: 'End all links' }).click();
  await page.getByText('Links ended').waitFor();
  await visit.page.reload();
  await visit.page.getByText('This link does not work').waitFor();
  expect([...complaints, ...visit.complaints]).toEqual([]);
});

it('a failed purchase is refunded once, after a question', SLOW, async () => {
  const { service } = dashboards;
  const { organizationId } = service.server.credentials;
  const paymentAddress = field<string>(await app().get('/config'), 'paymentAddress');
  const buyer = new Owner();
  await app().createWallet(buyer, newId('buyer'));
  await service.sandbox.faucet(buyer.address, 'USDC', '1');
  const hash = hashOf(await app().execute(buyer, [transferOf(USDC, paymentAddress, 10_000n)]));
  const paid = { organizationId, status: 'FAILED', buyer: BigInt(buyer.address), paid: 10_000n } as const;
  const place = { paymentAddress: BigInt(paymentAddress), tokenAddress: BigInt(USDC), hash };
  const { id: sku, name = '' } = shippedSkus.find((each) => each.id === 'telcel-recarga-100') ?? {};
  const id = await service.purchase({ ...paid, ...place, ...(sku && { sku: { id: sku } }) });
  const { page, complaints } = await dashboards.open('/purchases?refund=DUE');
  await expectAccessibleEverywhere(page, 'purchases');
  await page.locator(`a[href*="${id}"]`, { hasText: name }).click();
  await shows(page, name);
  await expectAccessibleEverywhere(page, 'purchase');
  await button(page, 'Refund').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('0.01 USDC goes from the manager account back to the payer, once.').waitFor();
  await dialog.getByRole('button', { name: 'Refund' }).click();
  await page.getByText('Refunded', { exact: true }).waitFor({ timeout: 60_000 });
  expect((await app().get(`/sku-purchases/${id}`)).body).toMatchObject({ refundStatus: 'REFUNDED' });
  await expect.poll(() => button(page, 'Refund').count()).toBe(0);
  expect(complaints).toEqual([]);
});

it('a service of one’s own is added, switched off and deleted', SLOW, async () => {
  const { page } = await dashboards.open('/services?page=5');
  await shows(page, 'Services');
  await expectAccessibleEverywhere(page, 'services');
  const id = `agua-${Date.now().toString(36)}`;
  await button(page, 'New service').click();
  const dialog = page.getByRole('dialog');
  for (const [label, value] of [
    ['Name', 'Agua'],
    ['Id', id],
    ['Provider', 'agua-mx'],
    ['Label of the reference', 'Cuenta'],
    ['Pattern of the reference', '^[0-9]{4}$'],
    ['Label of the amount', 'Importe'],
  ] as const) {
    await dialog.getByLabel(label, { exact: true }).fill(value);
  }
  await button(page, 'Save').click();
  await dialog.waitFor({ state: 'hidden' });
  const isOffered = async () => {
    const { body } = await app().get('/organization/skus?limit=100&page=2');
    return (body as { data: { id: string; isOffered: boolean }[] }).data.find((sku) => sku.id === id)?.isOffered;
  };
  expect(await isOffered()).toBe(true);
  await page.getByRole('switch', { name: 'Offer Agua' }).click();
  await expect.poll(isOffered).toBe(false);
  await page.getByRole('button', { name: 'Actions: Agua' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect.poll(isOffered).toBeUndefined();
});

describe('the money page', () => {
  it('shows a deposit that arrives by itself, and exports the ledger', SLOW, async () => {
    const { page, complaints } = await dashboards.open('/money?tab=deposit');
    await page.getByRole('img', { name: 'Deposit address' }).waitFor();
    await expectAccessible(page, 'money-deposit');
    const address = field<string>(await app().get('/organization'), 'depositAddress');
    await expect.poll(() => page.getByText(address, { exact: true }).isVisible()).toBe(true);
    const amount = `25.${10 + Math.floor(Math.random() * 89)}`;
    await dashboards.service.sandbox.faucet(address, 'USDC', amount);
    await page.getByRole('tab', { name: 'Ledger' }).click();
    await page
      .getByRole('row', { name: `Deposit $${amount}` })
      .first()
      .waitFor({ timeout: 60_000 });
    await expectAccessibleEverywhere(page, 'money-ledger');
    const [saved] = await Promise.all([page.waitForEvent('download'), button(page, 'Export CSV').click()]);
    const csv = await readFile(await saved.path(), 'utf8');
    expect(csv).toContain(`,DEPOSIT,${Number(amount)},`);
    expect(csv.trim().split('\r\n').length - 1).toBe(field(await app().get('/organization/ledger'), 'total'));
    expect(complaints).toEqual([]);
  });

  it('shows holds with their gift, and changes the limits of sponsored gas', SLOW, async () => {
    const name = newId('Retenido');
    await gifts.gift({ name, amount: 5, maxRedeems: 2, maxRedeemsPerUser: 1 });
    const { page } = await dashboards.open('/money?tab=holds');
    await page.getByRole('row', { name: `${name} $10.02` }).waitFor();
    await page.setViewportSize(phone);
    await expectAccessible(page, 'money-holds');
    await page.getByRole('tab', { name: 'Sponsored gas' }).click();
    await page.getByLabel('Transactions of a user and day').fill('x');
    await button(page, 'Save limits').click();
    await page.getByText('A whole number.').waitFor();
    await page.getByLabel('Transactions of a user and day').fill('250');
    await page.getByLabel('Allowed functions').fill('transfer\n\napprove');
    await expectAccessible(page, 'money-sponsorship');
    await button(page, 'Save limits').click();
    await page.getByText('Saved').waitFor();
    const limits = { userDailyTransactions: 250, allowedEntrypoints: ['transfer', 'approve'] };
    expect((await app().get('/organization/sponsorship')).body).toMatchObject(limits);
    await app().patch('/organization/sponsorship', { userDailyTransactions: null, allowedEntrypoints: null });
  });
});

it('a viewer sees everything and is offered no change', SLOW, async () => {
  const { id } = await gifts.gift({ name: 'Solo lectura' });
  const { page } = await dashboards.open(`/gifts/${id}`, { role: 'VIEWER' });
  await shows(page, 'Solo lectura');
  for (const name of ['Edit', 'Switch off', 'Delete']) await expect.poll(() => button(page, name).count()).toBe(0);
  await page.getByRole('link', { name: 'Gifts' }).first().click();
  await shows(page, 'Gifts');
  await expect.poll(() => page.getByRole('link', { name: 'New gift' }).count()).toBe(0);
});
