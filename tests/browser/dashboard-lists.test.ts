import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { classes, selector } from '@svc/starknet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type App, type ContractCall, hashOf, Owner, SessionKey, transferOf } from '../support/app.ts';
import { send } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { USDC } from '../support/starknet-client.ts';
import { BROWSER_LIMIT_MS } from './support/chromium.ts';
import { button, type Dashboards, expectAccessibleEverywhere, openDashboards, shows } from './support/dashboard.ts';

const RECIPIENT = `0x${'b0b'.padStart(64, '0')}`;
const hex = (value: bigint) => `0x${value.toString(16)}`;

let dashboards: Dashboards;
let app: App;
let ana: Owner;
let transfer: string;

beforeAll(async () => {
  dashboards = await openDashboards();
  const { service } = dashboards;
  app = service.app;
  ana = await service.wallet({ user: 'ana@tienda.example', usdc: '12.5' });
  const older = await service.wallet({ user: 'luis', classHash: classes.svcSessions });
  const session = new SessionKey(BigInt(Math.floor(Date.now() / 1_000)) + 86_400n);
  const self = (entrypoint: string, calldata: string[]) => ({ contractAddress: ana.address, entrypoint, calldata });
  const limits = [hex(session.validUntil), '0x64', '0x1', hex(selector('transfer'))];
  await succeed(ana, [
    self('add_or_update_session_key', [session.publicKey, ...limits]),
    self('set_spending_policy', [session.publicKey, USDC, hex(5_000_000n), '0x0', hex(20_000_000n), '0x0', '0xe10']),
  ]);
  transfer = await succeed(ana, [transferOf(USDC, RECIPIENT, 1_500_000n), transferOf(USDC, older.address, 7n)]);
}, BROWSER_LIMIT_MS);
afterAll(() => dashboards?.stop());

async function succeed(owner: Owner, calls: ContractCall[]): Promise<string> {
  const hash = hashOf(await app.execute(owner, calls));
  await eventually(
    () => app.get(`/transactions/${hash}`),
    ({ body }) => (body as { status: string }).status === 'SUCCESS',
  );
  return hash;
}

describe('the dashboard of an organisation', { timeout: BROWSER_LIMIT_MS }, () => {
  it('says what to do first, and ticks it off after the first wallet', async () => {
    const organization = await dashboards.service.organization();
    const { page, complaints } = await dashboards.open('/', { organizationId: organization.id });
    await shows(page, 'Overview');
    const step = page.locator('[data-step="wallet"]');
    await step.getByRole('link', { name: 'Open' }).waitFor();
    await page.locator('canvas').first().waitFor();
    await expectAccessibleEverywhere(page, 'overview-new');
    await page.getByRole('link', { name: 'Wallets' }).click();
    await page.getByText('No wallets yet').waitFor();
    await organization.createWallet(new Owner(), 'eva');
    await page.getByRole('link', { name: 'Overview' }).click();
    await step.getByText('Done', { exact: true }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('finds a wallet by user and by address, and shows what the chain has of it', async () => {
    const { page, complaints } = await dashboards.open('/wallets');
    await page.getByRole('link', { name: 'luis' }).waitFor();
    await expectAccessibleEverywhere(page, 'wallets');
    await page.getByRole('searchbox').fill('ana@');
    await expect.poll(() => page.getByRole('link', { name: 'luis' }).count()).toBe(0);
    await page.getByRole('searchbox').fill(hex(BigInt(ana.address)));
    await page.getByRole('link', { name: 'ana@tienda.example' }).click();
    await shows(page, 'ana@tienda.example');
    const balances = page.getByRole('table', { name: 'Balances' });
    await balances.getByText(/USDC/).first().waitFor();
    expect(await balances.textContent()).toContain('10.999993');
    await page.getByText(/5\.00.USDC a call|5.USDC a call/).waitFor();
    await page.getByRole('table', { name: 'Sessions' }).getByText('Active').waitFor();
    await expectAccessibleEverywhere(page, 'wallet');
    expect(complaints).toEqual([]);
  });

  it('restores an earlier encryption after a question', async () => {
    const eva = new Owner();
    const owner = { externalUserId: `eva-${randomUUID()}`, publicKey: eva.address };
    await app.createWallet(eva, owner.externalUserId);
    await app.patch('/svc-wallets/update-encryption-details', { ...owner, newEncryptedPrivateKey: 'another' });
    const { page } = await dashboards.open(`/wallets?search=${owner.externalUserId}`);
    await page.getByRole('link', { name: owner.externalUserId }).click();
    await button(page, 'Restore').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click();
    await page.getByText('Encryption restored').waitFor();
    const { body } = await app.get(`/svc-wallets/by-user?externalUserId=${owner.externalUserId}`);
    expect(body).toMatchObject({ encryptedPrivateKey: `ciphertext of ${owner.externalUserId}` });
  });

  it('shows a viewer no way to restore one', async () => {
    const { page } = await dashboards.open('/wallets?search=ana', { role: 'VIEWER' });
    await page.getByRole('link', { name: 'ana@tienda.example' }).click();
    await page.getByRole('heading', { name: 'History' }).waitFor();
    await expect.poll(() => button(page, 'Restore').count()).toBe(0);
  });

  it('filters transactions in the address, and shows calls, fee and attempts of one', async () => {
    const { page, complaints } = await dashboards.open(`/transactions?type=SEND&address=${RECIPIENT}`);
    const row = page.getByRole('row').filter({ hasText: '1.5' });
    await row.getByRole('link').waitFor();
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    await expectAccessibleEverywhere(page, 'transactions');
    await row.getByRole('link').click();
    await shows(page, 'Sent');
    await page.getByText('Executed').waitFor();
    const calls = page.getByRole('region', { name: 'Calls' });
    expect(await calls.textContent()).toMatch(/transfer · USDC.*1\.5/s);
    expect(await page.locator('.facts').first().textContent()).toMatch(/Fee[\d.,]+.STRK/);
    await expectAccessibleEverywhere(page, 'transaction');
    expect(complaints).toEqual([]);
  });

  it('saves transactions as a file', async () => {
    const { page } = await dashboards.open('/transactions');
    await page.getByRole('row').nth(1).waitFor();
    const [download] = await Promise.all([page.waitForEvent('download'), button(page, 'Export CSV').click()]);
    const text = await readFile(await download.path(), 'utf8');
    expect(text).toContain('transactionHash');
    expect(text.split('\r\n').filter((line) => line.includes(transfer)).length).toBeGreaterThanOrEqual(2);
  });

  it('finds a request by its id', async () => {
    const requestId = `soporte-${randomUUID()}`;
    await send(`${app.baseUrl}/gifts/gift_nothing`, { headers: { ...app.headers, 'x-request-id': requestId } });
    await eventually(
      () => app.get(`/organization/requests?requestId=${requestId}`),
      ({ body }) => (body as { data: object[] }).data.length === 1,
    );
    const { page, complaints } = await dashboards.open('/developers/requests');
    await page.getByRole('row').nth(2).waitFor();
    await expectAccessibleEverywhere(page, 'requests');
    const search = page.getByRole('searchbox', { name: 'Search by request id' });
    await search.fill(requestId);
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    expect(await page.getByRole('row').nth(1).textContent()).toContain('gift_not_found');
    await search.fill('soporte-nothing');
    await page.getByText('No request matches').waitFor();
    expect(complaints).toEqual([]);
  });

  it('has charts of what happened, also in Spanish', async () => {
    const { page, complaints } = await dashboards.open('/?range=7d', { locale: 'es-MX' });
    await shows(page, 'Resumen');
    await page.locator('canvas').nth(4).waitFor();
    await expectAccessibleEverywhere(page, 'overview');
    await page.getByRole('button', { name: '30 días' }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get('range')).toBe('30d');
    expect(complaints).toEqual([]);
  });
});
