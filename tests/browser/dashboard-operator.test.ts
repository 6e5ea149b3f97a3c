import { sql } from '@svc/store';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failedJob, stuckPurchase, stuckRedeem, unknownNonce } from '../support/operator.ts';
import { BROWSER_LIMIT_MS } from './support/chromium.ts';
import { type Dashboards, expectAccessibleEverywhere, openDashboards, shows } from './support/dashboard.ts';

let dashboards: Dashboards;
beforeAll(async () => {
  dashboards = await openDashboards();
}, BROWSER_LIMIT_MS);
afterAll(() => dashboards?.stop());

const open = (place: string) => dashboards.open(`/operator${place}`, { role: 'VIEWER', isOperator: true });
const short = (id: string) => `${id.slice(0, 8)}…${id.slice(-6)}`;
const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });
const dialog = (page: Page) => page.getByRole('dialog');
const confirm = (page: Page, name: string) => dialog(page).getByRole('button', { name, exact: true }).click();
const statusOf = async (table: 'transactions' | 'gift_redeems', id: string) => {
  const from = table === 'transactions' ? sql`transactions` : sql`gift_redeems`;
  const found = await dashboards.service.db.one<{ status: string }>(sql`select status from ${from} where id = ${id}`);
  return found?.status;
};

describe("the operator's pages", () => {
  it('show health and what needs attention first, and lead to it', async () => {
    await stuckPurchase(dashboards.service);
    const { page, complaints } = await open('');
    await shows(page, 'Deployment');
    await page.getByText(/^Purchases open for more than ten minutes/).waitFor();
    await page.getByText('PostgreSQL').waitFor();
    await expectAccessibleEverywhere(page);
    await page.getByRole('link', { name: 'Look' }).first().click();
    await page.waitForURL('**/dashboard/operator/**');
    expect(complaints).toEqual([]);
  });

  it('complete a stuck purchase with the file number of the provider, and say what happens with the money', async () => {
    const id = await stuckPurchase(dashboards.service);
    const { page, complaints } = await open('/stuck');
    await expectAccessibleEverywhere(page);
    await row(page, short(id)).getByRole('button', { name: 'Complete' }).click();
    await dialog(page)
      .getByText(/the payment is kept/)
      .waitFor();
    await confirm(page, 'Complete');
    await dialog(page).getByText('The provider names one for what it delivers.').waitFor();
    await dialog(page).getByLabel('File number of the provider').fill('F-20443');
    await expectAccessibleEverywhere(page, 'operator-stuck-complete');
    await confirm(page, 'Complete');
    await page.getByText('Purchase completed').waitFor();
    await row(page, short(id)).waitFor({ state: 'detached' });
    expect(await statusOf('transactions', id)).toBe('SUCCESS');
    expect(complaints).toEqual([]);
  });

  it('fail or cancel a purchase, as far as it has come', async () => {
    const { service } = dashboards;
    const [paid, unpaid] = [await stuckPurchase(service), await stuckPurchase(service, 'PENDING')];
    const { page } = await open('/stuck');
    await row(page, short(paid)).getByRole('button', { name: 'Fail' }).click();
    await dialog(page)
      .getByText(/becomes due for refund/)
      .waitFor();
    await dialog(page).getByLabel('Reason, for the buyer').fill('The provider has no record of it');
    await confirm(page, 'Fail');
    await row(page, short(paid)).waitFor({ state: 'detached' });
    await row(page, short(unpaid)).getByRole('button', { name: 'Cancel' }).click();
    await dialog(page)
      .getByText(/No money moves/)
      .waitFor();
    await dialog(page).getByRole('button', { name: 'Cancel', exact: true }).last().click();
    await row(page, short(unpaid)).waitFor({ state: 'detached' });
    expect([await statusOf('transactions', paid), await statusOf('transactions', unpaid)]).toEqual([
      'FAILED',
      'CANCELLED',
    ]);
  });

  it('resume a redeem that was burned and did not arrive', async () => {
    const id = await stuckRedeem(dashboards.service);
    const { page } = await open('/stuck');
    await row(page, short(id)).getByRole('button', { name: 'Resume' }).click();
    await dialog(page)
      .getByText(/Nothing is burned and nothing is charged again/)
      .waitFor();
    await confirm(page, 'Resume');
    await page.getByText('The redeem goes on').waitFor();
    await row(page, short(id)).waitFor({ state: 'detached' });
    expect(await statusOf('gift_redeems', id)).toBe('BRIDGING');
  });

  it('show an account with an unknown transaction, until it is accepted with a reason', async () => {
    await dashboards.service.wallet();
    const { account, nonce } = await unknownNonce(dashboards.service);
    const { page, complaints } = await open('/accounts');
    await page.getByText('Unknown transactions').first().waitFor();
    await row(page, nonce).waitFor();
    await expectAccessibleEverywhere(page);
    await row(page, nonce).getByRole('button', { name: 'Accept' }).click();
    await dialog(page).getByLabel('Reason').fill('Sent by hand');
    await confirm(page, 'Accept');
    await page.getByText('Accepted: payments go on').waitFor();
    await row(page, nonce).waitFor({ state: 'detached' });
    const left = await dashboards.service.db.one(sql`
      select from unknown_nonces where account = ${account} and nonce = ${nonce}::bigint and resolution is null`);
    expect(left).toBeUndefined();
    expect(complaints).toEqual([]);
  });

  it('create an organisation, invite its owner, make keys, revoke one, and raise its gas', async () => {
    const name = `Tienda ${crypto.randomUUID().slice(0, 8)}`;
    const { page, complaints } = await open('/organizations');
    await page.getByRole('button', { name: 'New organisation' }).click();
    await dialog(page).getByLabel('Name').fill(name);
    await dialog(page)
      .getByLabel(/E-mail address of the owner/)
      .fill('ana@tienda.example');
    await confirm(page, 'Create');
    await shows(page, name);
    await page.getByRole('cell', { name: 'ana@tienda.example' }).waitFor();
    await page.getByRole('button', { name: 'New keys' }).click();
    await confirm(page, 'Make keys');
    await dialog(page)
      .getByText(/^sk_dev_/)
      .waitFor();
    await confirm(page, 'Done');
    await page.getByRole('button', { name: 'Revoke' }).first().click();
    await confirm(page, 'Revoke');
    await page.getByText('Key revoked').waitFor();
    await page.getByRole('button', { name: 'Change' }).first().click();
    await dialog(page).getByLabel('At most per day').fill('2000');
    await confirm(page, 'Save');
    await page.getByText('2,000 STRK').waitFor();
    await expectAccessibleEverywhere(page, 'operator-organization');
    await page.getByRole('link', { name: 'Organisations' }).first().click();
    await page.getByRole('searchbox').fill(name);
    await row(page, name).waitFor();
    await expectAccessibleEverywhere(page);
    expect(complaints).toEqual([]);
  });

  it('run a failed job again', async () => {
    const id = await failedJob(dashboards.service);
    const { page, complaints } = await open('/jobs');
    await page.getByText('connect ECONNREFUSED').first().waitFor();
    await expectAccessibleEverywhere(page);
    const jobs = () =>
      dashboards.service.db.rows(sql`select from jobs where id = ${id}::bigint and failed_at is not null`);
    await row(page, 'connect ECONNREFUSED').first().getByRole('button', { name: 'Run again' }).click();
    await dialog(page)
      .getByText(/nothing is paid twice/)
      .waitFor();
    await confirm(page, 'Run again');
    await page.getByText('The job runs again').waitFor();
    expect(await jobs()).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('refuse a member who is no operator, in Spanish too', async () => {
    const { page } = await dashboards.open('/operator', { role: 'OWNER', locale: 'es-MX' });
    await shows(page, 'Servicio');
    await page.getByRole('alert').first().waitFor();
    await expect.poll(() => page.getByRole('link', { name: 'Atorados' }).count()).toBe(0);
  });
});
