import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../packages/server/src/util/ids.ts';
import { bodyOf, type ContractCall, hashOf, type Owner, SessionKey, transferOf } from '../support/app.ts';
import { send } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { PrivateAccount, setTerms } from '../support/private-pool.ts';
import { TestService } from '../support/service.ts';
import { USDC } from '../support/starknet-client.ts';
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

/** A service of its own: time and faults are changed. */
let service: TestService;
let dashboards: Dashboards;
beforeAll(async () => {
  service = await TestService.hosted();
  dashboards = await openDashboards(service);
}, BROWSER_LIMIT_MS);
afterAll(async () => {
  await dashboards?.stop();
  await service?.stop();
});

const LIMIT = { timeout: 120_000 };
const hex = (value: bigint) => `0x${value.toString(16)}`;

async function settled(owner: Owner, calls: readonly ContractCall[]): Promise<string> {
  const hash = hashOf(await service.app.execute(owner, calls));
  const read = async () => (await service.app.get(`/transactions/${hash}`)).body as { status: string };
  await eventually(read, ({ status }) => status === 'SUCCESS' || status === 'FAILED');
  return hash;
}

describe('the home page', LIMIT, () => {
  it('says what runs here, and every link of it leads to a page', async () => {
    const { page, complaints } = await dashboards.visit('/');
    await page.getByText('sandbox on this machine').waitFor();
    await page.getByText('no live network configured').waitFor();
    const links = await page.getByRole('navigation').getByRole('link').all();
    expect(links.length).toBe(6);
    for (const link of links) {
      const address = await link.evaluate((element: unknown) => (element as { href: string }).href);
      expect([address, (await send(address)).status]).toEqual([address, expect.toBeOneOf([200, 302])]);
    }
    await expectAccessibleEverywhere(page, 'home');
    await button(page, 'Español').click();
    await page.getByRole('heading', { name: 'Qué corre aquí' }).waitFor();
    expect(await page.locator('html').getAttribute('lang')).toBe('es');
    expect(complaints).toEqual([]);
  });

  it('signs the developer of this machine in to the dashboard', async () => {
    const { page, complaints } = await dashboards.visit('/');
    await button(page, 'Sign in as the developer').click();
    await button(page, 'Continue').click();
    await shows(page, 'Overview');
    expect(new URL(page.url()).pathname).toMatch(/^\/dashboard\/?$/);
    expect(complaints).toEqual([]);
  });

  it('offers neither the sandbox nor a sign-in where only a live network runs', async () => {
    const { page } = await dashboards.visit('/docs');
    const facts = JSON.stringify({ version: '1.2.3', network: 'mainnet', hasSandbox: false });
    await page.route(`${service.server.origin}/`, async (route) => {
      const html = await (await route.fetch()).text();
      const meta = `<meta name="svc-home" content="${facts.replaceAll('"', '&quot;')}"`;
      await route.fulfill({
        contentType: 'text/html',
        body: html.replace(/<meta name="svc-home" content="[^"]*"/, meta),
      });
    });
    await page.goto(`${service.server.origin}/`);
    await page.getByText('Starknet mainnet').waitFor();
    await page.getByText('Version 1.2.3').waitFor();
    await expect.poll(() => page.getByRole('button', { name: /Sign in/ }).count()).toBe(0);
    const names = await page.getByRole('navigation').locator('strong').allTextContents();
    expect(names).toEqual(['Dashboard', 'Reference', 'Claim page', 'Health']);
  });
});

describe('the sandbox page', LIMIT, () => {
  const choose = async (page: Page, label: string, option: string) => {
    await page.getByLabel(label, { exact: true }).click();
    await page.getByRole('option', { name: option, exact: true }).click();
  };

  it('gives tokens to an address, and leads to the account in the explorer', async () => {
    const owner = await service.wallet({ usdc: '1' });
    const { page, complaints } = await dashboards.open('/sandbox');
    await shows(page, 'Sandbox');
    await page.getByText('Latest block').waitFor();
    await page.getByLabel('Address').fill(owner.address);
    await page.getByLabel('Amount').fill('12.5');
    await button(page, 'Give tokens').click();
    await page.getByText('12.5 USDC arrived.').waitFor();
    expect(await service.app.balance(owner.address, 'USDC')).toBe(13_500_000n);
    await expectAccessibleEverywhere(page, 'sandbox');
    await page.getByRole('link', { name: 'Show the account' }).click();
    await shows(page, 'Account');
    await page.getByRole('cell', { name: '13.5 USDC', exact: true }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('refuses an address that is none, with the reason', async () => {
    const { page } = await dashboards.open('/sandbox');
    await page.getByLabel('Address').fill('nonsense');
    await button(page, 'Give tokens').click();
    await page
      .getByRole('alert')
      .getByText(/address/)
      .waitFor();
  });

  it('moves the time and adds blocks, and goes back to the present', async () => {
    await service.sandbox.ask('/starknet/time', { offsetSeconds: 0 });
    const before = await service.sandbox.show();
    const { page } = await dashboards.open('/sandbox');
    await button(page, '+ 1 day').click();
    await page.getByText('86,400 s', { exact: true }).waitFor();
    await page.getByLabel('Add blocks').fill('3');
    await button(page, 'Add blocks').click();
    const mined = await eventually(
      () => service.sandbox.show(),
      ({ blockNumber }) => blockNumber >= before.blockNumber + 3,
    );
    expect(mined.timestamp).toBeGreaterThanOrEqual(before.timestamp + 86_400);
    await page.getByRole('link', { name: String(mined.blockNumber), exact: true }).waitFor();
    await button(page, 'Back to the present').click();
    await page.getByText('0 s', { exact: true }).waitFor();
    expect((await service.sandbox.show()).offsetSeconds).toBe(0);
  });

  it('changes the terms of the private pool, and shows of a private balance that it is there, never how much', async () => {
    await setTerms(service.sandbox, {});
    const owner = await service.wallet({ usdc: '10' });
    const { id } = bodyOf<{ data: { id: string }[] }>(
      await service.app.get(`/svc-wallets?search=${owner.address}`),
      200,
    ).data[0] ?? { id: '' };
    const hidden = 'This wallet has used a private balance.';
    const { page, complaints } = await dashboards.open(`/wallets/${id}`);
    await page.getByText('As the chain shows them now.').waitFor();
    await settled(owner, await new PrivateAccount(service.sandbox, owner).shield([4_321_000n]));
    await page.reload();
    await page.getByText(hidden).waitFor();
    await page.getByText('Shielded', { exact: true }).waitFor();
    await expectAccessibleEverywhere(page, 'wallet-private');
    const note = await page.getByText(hidden).locator('..').textContent();
    expect(note).not.toMatch(/\d/);
    await page.goto(`${service.server.origin}/dashboard/sandbox`);
    await page.getByLabel('Fee in STRK').fill('4');
    await page.getByLabel('Blocks behind the head').fill('12');
    await page.getByRole('switch', { name: 'Shields are paused' }).click();
    await button(page, 'Change the terms').click();
    const config = async () => (await service.app.get('/config')).body as { privateBalance: { fee: string } };
    const changed = await eventually(config, ({ privateBalance }) => privateBalance.fee !== '0');
    const terms = { fee: '4000000000000000000', shieldPaused: true, lagBlocks: 12 };
    expect(changed).toMatchObject({ privateBalance: terms });
    await expectAccessibleEverywhere(page, 'sandbox-pool');
    await setTerms(service.sandbox, {});
    expect(complaints).toEqual([]);
  });

  it('orders a fault that the next transaction meets, and removes those in force', async () => {
    const owner = await service.wallet();
    for (const place of ['/starknet/faults', '/bridge/faults']) await service.sandbox.ask(place, undefined, 'DELETE');
    const { page, complaints } = await dashboards.open('/sandbox?tab=faults');
    await page.getByText('Everything works').waitFor();
    await page.getByLabel('Reason').fill('ERC20: insufficient balance');
    await button(page, 'Order the fault').click();
    await page.getByRole('cell', { name: 'The next transaction reverts' }).waitFor();
    await expectAccessibleEverywhere(page, 'sandbox-faults');
    const hash = await settled(owner, [transferOf(USDC, '0xb0b', 1n)]);
    expect((await service.app.get(`/transactions/${hash}`)).body).toMatchObject({ status: 'FAILED' });
    await page.getByText('Everything works').waitFor();

    await choose(page, 'Service', 'Bridge');
    await choose(page, 'Fault', 'The next attestation has expired');
    await button(page, 'Order the fault').click();
    await page.getByRole('cell', { name: 'The next attestation has expired' }).waitFor();
    await button(page, 'Remove all').click();
    await page.getByText('Everything works').waitFor();
    expect(await service.sandbox.ask('/bridge/faults')).toMatchObject({ faults: [] });
    expect(complaints).toEqual([]);
  });

  it('changes the bridge, and lists what the provider was ordered', async () => {
    const { page } = await dashboards.open('/sandbox?tab=services');
    await page.getByText('No orders yet').waitFor();
    await button(page, 'No delays').click();
    const read = () => service.sandbox.ask<{ settings: Record<string, number> }>('/bridge');
    await eventually(read, ({ settings }) => settings.fastSeconds === 0 && settings.standardSeconds === 0);
    await expectAccessibleEverywhere(page, 'sandbox-services');
  });

  it('shows a mail with its links as soon as it was sent', async () => {
    const { page } = await dashboards.open('/sandbox?tab=mail');
    const { mails } = await service.sandbox.ask<{ mails: object[] }>('/mailbox');
    if (mails.length === 0) await page.getByText('There is no mail yet').waitFor();
    const email = `${newId('eva')}@example.com`;
    const recipients = [{ email }];
    expect((await service.app.post('/gifts/bulk', { name: 'Reyes', amount: 2, recipients })).status).toBe(201);
    const row = page.getByRole('row').filter({ hasText: email });
    await row.waitFor();
    await expectAccessibleEverywhere(page, 'sandbox-mail');
    await row.getByRole('button').click();
    const link = page
      .getByRole('dialog')
      .getByRole('link', { name: `${service.server.origin}/claim/` })
      .first();
    await link.waitFor();
    await expectAccessible(page, 'sandbox-mail-open');
    await link.click();
    await page.getByRole('heading', { level: 1 }).filter({ hasText: /gift/i }).waitFor();
  });

  it('makes a token that the interface accepts as the user', async () => {
    const { page } = await dashboards.open('/sandbox?tab=users');
    await page.getByRole('textbox', { name: 'User' }).fill('maria');
    await button(page, 'Make a token').click();
    const token = (await page.locator('pre').textContent()) ?? '';
    const { baseUrl, publicKey } = service.server.credentials;
    const headers = { 'x-api-key': publicKey, authorization: `Bearer ${token}` };
    expect((await send(`${baseUrl}/skus?limit=1`, { headers })).status).toBe(200);
    await expectAccessibleEverywhere(page, 'sandbox-users');
  });
});

describe('the explorer', LIMIT, () => {
  const search = async (page: Page, text: string) => {
    await page.getByRole('searchbox', { name: 'Search the chain' }).fill(text);
    await button(page, 'Search').click();
  };
  const section = (page: Page, name: string) =>
    page.locator('section').filter({ has: page.getByRole('heading', { level: 2, name, exact: true }) });

  it('leads from a hash to the account with its class, balances, session and spending limits', async () => {
    const owner = await service.wallet({ usdc: '100' });
    const session = new SessionKey(BigInt((await service.sandbox.clock()) + 86_400));
    const key = session.publicKey;
    await settled(owner, [
      {
        contractAddress: owner.address,
        entrypoint: 'add_or_update_session_key',
        calldata: [key, hex(session.validUntil), '0x32', '0x0'],
      },
      {
        contractAddress: owner.address,
        entrypoint: 'set_spending_policy',
        calldata: [key, USDC, hex(5_000_000n), '0x0', hex(20_000_000n), '0x0', hex(86_400n)],
      },
    ]);
    const payment = transferOf(USDC, '0xb0b', 2_500_000n);
    const hash = hashOf(await service.app.executeWithSession(owner.address, session, [payment]));
    const { page, complaints } = await dashboards.visit('/sandbox/explorer');
    await shows(page, 'Overview');
    await page
      .getByRole('cell', { name: /^Sends 2.5 USDC/ })
      .first()
      .waitFor();
    await expectAccessibleEverywhere(page, 'explorer');

    await search(page, hash);
    await page.getByRole('heading', { level: 1, name: /^Sends 2.5 USDC/ }).waitFor();
    await page.getByText('the user pays no gas').waitFor();
    await page.getByText('a session key').first().waitFor();
    await page.getByText('execute_from_outside_v2').waitFor();
    await expectAccessibleEverywhere(page, 'explorer-transaction');
    const address = hex(BigInt(owner.address));
    await page.locator(`dl a[href$="/account/${address}"]`).first().click();

    await shows(page, 'Account');
    await page.getByText('SVC wallet').waitFor();
    await section(page, 'Balances').getByRole('cell', { name: '97.5 USDC', exact: true }).waitFor();
    const sessions = section(page, 'Sessions');
    await sessions.getByText('1 of 50').waitFor();
    const limits = await sessions.getByRole('row').filter({ hasText: 'USDC' }).getByRole('cell').allTextContents();
    expect(limits.map((text) => text.replace('\u00a0', ' '))).toEqual([
      'USDC',
      '5 USDC',
      '20 USDC',
      '1 day',
      '2.5 USDC',
    ]);
    await section(page, 'Transactions')
      .getByRole('cell', { name: /^Adds a session key/ })
      .waitFor();
    await expectAccessibleEverywhere(page, 'explorer-account');
    expect(complaints).toEqual([]);
  });

  it('says why a transaction was reverted, in words', async () => {
    const owner = await service.wallet();
    await service.sandbox.orderFault({ kind: 'revert', reason: 'ERC20: insufficient balance' });
    const hash = await settled(owner, [transferOf(USDC, '0xb0b', 1_000_000n)]);
    const { page, complaints } = await dashboards.visit(`/sandbox/explorer/tx/${hash}`);
    await page.getByText('It was reverted: ERC20: insufficient balance').waitFor();
    await page.getByText('The account does not hold as much of the token as it was to send.').waitFor();
    await expectAccessibleEverywhere(page, 'explorer-reverted');
    expect(complaints).toEqual([]);
  });

  it('finds a block by its number and walks to its neighbours', async () => {
    await service.sandbox.ask('/starknet/mine', { blocks: 3 });
    const { blockNumber } = await service.sandbox.show();
    const { page } = await dashboards.visit('/sandbox/explorer');
    await search(page, String(blockNumber - 1));
    await shows(page, `Block ${blockNumber - 1}`);
    await expectAccessibleEverywhere(page, 'explorer-block');
    await page.getByRole('link', { name: 'Later block' }).click();
    await shows(page, `Block ${blockNumber}`);
    await page.getByRole('link', { name: 'Earlier block' }).click();
    await shows(page, `Block ${blockNumber - 1}`);
    await page.getByRole('navigation', { name: 'Explorer pages' }).getByRole('link', { name: 'Blocks' }).click();
    await shows(page, 'Blocks');
    await expectAccessible(page, 'explorer-blocks');
  });

  it('shows the name of the chosen page on a phone', async () => {
    const { page } = await dashboards.visit('/sandbox/explorer/tokens', { viewport: phone });
    const chosen = page.getByRole('navigation', { name: 'Explorer pages' }).getByRole('link', { name: 'Tokens' });
    await expect.poll(async () => (await chosen.boundingBox())?.x, { timeout: 60_000 }).toBeLessThan(phone.width - 60);
    await expectAccessible(page, 'explorer-tokens');
  });

  it('finds an address and a token, and says of nonsense what it takes', async () => {
    const owner = await service.wallet({ usdc: '7' });
    const { page } = await dashboards.visit('/sandbox/explorer');
    await search(page, owner.address.toUpperCase().replace('0X', '0x'));
    await shows(page, 'Account');
    await page.getByRole('cell', { name: '7 USDC', exact: true }).waitFor();
    await search(page, 'usdc');
    await shows(page, 'USD Coin');
    await search(page, 'three little pigs');
    await page.getByText('This is no hash, address, block number or token.').waitFor();
    await expectAccessibleEverywhere(page, 'explorer-nothing');
    await search(page, '99999999');
    await page.getByText('There is no block 99999999 yet.').waitFor();
    await search(page, '0x123456789abcdef');
    await page.getByRole('link', { name: 'Show as an address' }).click();
    await page.getByText('No contract is at this address.').waitFor();
    await page.goto(`${service.server.origin}/sandbox/explorer/nowhere`);
    await page.getByText('The explorer has no such page.').waitFor();
  });

  it('has no barriers on its lists', async () => {
    const { page, complaints } = await dashboards.visit('/sandbox/explorer/transactions');
    for (const name of ['Transactions', 'Accounts', 'Tokens']) {
      await page.getByRole('navigation', { name: 'Explorer pages' }).getByRole('link', { name }).click();
      await shows(page, name);
      await page.getByRole('row').nth(1).waitFor();
      await expectAccessibleEverywhere(page, `explorer-${name.toLowerCase()}`);
    }
    expect(complaints).toEqual([]);
  });
});
