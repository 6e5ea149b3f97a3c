import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BROWSER_LIMIT_MS } from './support/chromium.ts';
import {
  button,
  type Dashboards,
  expectAccessible,
  expectAccessibleEverywhere,
  openDashboards,
  phone,
  shows,
} from './support/dashboard.ts';

let dashboards: Dashboards;
beforeAll(async () => {
  dashboards = await openDashboards();
}, BROWSER_LIMIT_MS);
afterAll(() => dashboards?.stop());

const navigation = (page: Page) => page.getByRole('navigation', { name: 'Pages' });
const pathOf = (page: Page) => new URL(page.url()).pathname;
const focused = (page: Page) => page.evaluate('document.activeElement?.textContent');

describe('the dashboard', () => {
  it('leads to the sign-in page without a session, and remembers where to', async () => {
    const { page } = await dashboards.open('/gifts?status=ACTIVE', { role: null });
    await page.waitForURL('**/dashboard/sign-in?**');
    expect(new URL(page.url()).searchParams.get('next')).toBe('/dashboard/gifts?status=ACTIVE');
  });

  it('is accessible in both colours and widths, and loads nothing from elsewhere', async () => {
    const { page, complaints } = await dashboards.open('/no-such-page', { isOperator: true });
    await shows(page, 'Page not found');
    await expectAccessibleEverywhere(page, 'shell');
    await page.keyboard.press('ControlOrMeta+k');
    await page.getByRole('combobox', { name: 'Search' }).waitFor();
    await expectAccessible(page, 'shell-palette');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: /^Account of/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).waitFor();
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectAccessible(page, 'shell-account');
    expect(complaints).toEqual([]);
  });

  it('starts no transition where less motion was asked for', async () => {
    const { page } = await dashboards.open('/no-such-page');
    await shows(page, 'Page not found');
    await page.evaluate("globalThis.started = 0; addEventListener('transitionrun', () => started++, true)");
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(() => page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(19, 17, 16)');
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    expect(await page.evaluate('started')).toBe(0);
  });

  it('keeps the order of its style sheets when the address changes before a page is loaded', async () => {
    const { page } = await dashboards.open('?range=30d');
    await shows(page, 'Overview');
    await navigation(page).getByRole('link', { name: 'Webhooks' }).click();
    await shows(page, 'Webhooks');
    const sheets = await page
      .locator('link[rel=stylesheet]:not([disabled])')
      .evaluateAll((links) => links.map((link) => (link as unknown as { href: string }).href.split('/').at(-1)));
    expect(new Set(sheets).size).toBe(sheets.length);
    await expect.poll(() => page.locator('.drawer-button').isVisible()).toBe(false);
  });

  it('opens pages by keyboard: palette, arrow, Enter, and the focus is on the new heading', async () => {
    const { page } = await dashboards.open('/no-such-page');
    await shows(page, 'Page not found');
    await page.keyboard.press('ControlOrMeta+k');
    await page.getByRole('combobox', { name: 'Search' }).waitFor();
    await page.keyboard.type('develop');
    await page.getByRole('option', { name: /API keys/ }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/dashboard/developers/webhooks');
    await shows(page, 'Webhooks');
    await expect.poll(() => focused(page)).toBe('Webhooks');
    expect(await page.title()).toBe('Webhooks · svc');
    expect(await navigation(page).locator('[aria-current="page"]').textContent()).toBe('Webhooks');
  });

  it('finds a gift by its code', async () => {
    const { id, code } = await dashboards.service.gift({ name: 'For Ana' });
    const { page } = await dashboards.open('/no-such-page');
    await shows(page, 'Page not found');
    await page.keyboard.press('ControlOrMeta+k');
    await page.getByRole('combobox', { name: 'Search' }).fill(code.toLowerCase());
    await page.getByRole('option', { name: 'For Ana' }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/dashboard/gifts/${id}`);
  });

  it('says on every page whether the money is real, sends the choice, and keeps it', async () => {
    const { page } = await dashboards.open('/settings/audit-log');
    await page.getByText('TEST', { exact: true }).waitFor();
    await button(page, 'Production').click();
    await page.getByText('PRODUCTION', { exact: true }).waitFor();
    expect([pathOf(page), new URL(page.url()).search]).toEqual(['/dashboard/settings/audit-log', '?env=production']);
    await expect.poll(() => navigation(page).getByRole('link', { name: 'Sandbox' }).count()).toBe(0);
    expect(await navigation(page).getByRole('link', { name: 'Gifts' }).getAttribute('href')).toBe(
      '/dashboard/gifts?env=production',
    );
    const read = page.waitForRequest('**/v1/session');
    await page.goto(`${dashboards.service.server.origin}/dashboard/no-such-page`);
    expect((await read).headers()['x-svc-environment']).toBe('production');
    await page.getByText('PRODUCTION', { exact: true }).waitFor();
  });

  it('leaves the page of a record when the environment changes: it exists in one alone', async () => {
    const { page } = await dashboards.open('/gifts/new');
    await button(page, 'Production').click();
    await page.waitForURL('**/dashboard/gifts?env=production');
    await button(page, 'Development').click();
    await page.waitForURL('**/dashboard/gifts?env=development');
  });

  it('speaks the chosen language in the chosen colours, also after a reload', async () => {
    const { page } = await dashboards.open('/no-such-page');
    await page.getByRole('button', { name: /^Account of/ }).click();
    await page.getByRole('menuitemradio', { name: 'Español' }).click();
    await page.getByRole('menuitemradio', { name: 'Oscura' }).click();
    await page.reload();
    await shows(page, 'Página no encontrada');
    expect(await page.getAttribute('html', 'lang')).toBe('es');
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(19, 17, 16)');
  });

  it('has its pages in a drawer on a phone', async () => {
    const { page } = await dashboards.open('/no-such-page', { viewport: phone });
    await button(page, 'Open the menu').click();
    await navigation(page).getByRole('link', { name: 'Members' }).click();
    await page.waitForURL('**/dashboard/settings/members');
    await expect.poll(() => navigation(page).count()).toBe(0);
  });

  it('lets the keyboard skip the sidebar', async () => {
    const { page } = await dashboards.open('/no-such-page');
    await shows(page, 'Page not found');
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
  });

  it('shows the pages of the deployment to its operators alone', async () => {
    const member = await dashboards.open('/no-such-page');
    await shows(member.page, 'Page not found');
    await expect.poll(() => navigation(member.page).getByRole('link', { name: 'Jobs' }).count()).toBe(0);
    const operator = await dashboards.open('/no-such-page', { isOperator: true });
    await navigation(operator.page).getByRole('link', { name: 'Jobs' }).waitFor();
  });

  it('shows the sign-in page once the session is revoked', async () => {
    const { page, member } = await dashboards.open('/no-such-page');
    await shows(page, 'Page not found');
    await member?.signOut();
    await page.reload();
    await page.waitForURL('**/dashboard/sign-in?**');
  });

  it('signs out', async () => {
    const { page, context } = await dashboards.open('/no-such-page');
    await page.getByRole('button', { name: /^Account of/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.waitForURL('**/dashboard/sign-in');
    expect(await context.cookies()).toEqual([]);
  });
});
