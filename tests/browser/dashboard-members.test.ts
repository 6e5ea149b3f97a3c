import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../packages/server/src/util/ids.ts';
import { send } from '../support/client.ts';
import { mailedLink, signIn } from '../support/members.ts';
import type { AnyService } from '../support/service.ts';
import { addAuthenticator } from './support/authenticator.ts';
import { BROWSER_LIMIT_MS, takePage } from './support/chromium.ts';
import {
  button,
  type Dashboards,
  desktop,
  expectAccessible,
  expectAccessibleEverywhere,
  follow,
  openDashboards,
  phone,
  shows,
} from './support/dashboard.ts';

const LIMIT_MS = 120_000;

let dashboards: Dashboards;
let service: AnyService;
beforeAll(async () => {
  dashboards = await openDashboards();
  ({ service } = dashboards);
}, BROWSER_LIMIT_MS);
afterAll(() => dashboards?.stop());

const newAddress = () => `${newId('person')}@tienda.example`;
/** Toasts have the role of a dialog too. */
const dialog = (page: Page) => page.locator('.dialog');
const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });
const accountMenu = (page: Page) => page.getByRole('button', { name: /^Account of/ });
const choose = async (page: Page, menu: string, item: string) => {
  await button(page, menu).click();
  await page.getByRole('menuitem', { name: item }).click();
};
const statusOf = (page: Page, path: string) =>
  page.evaluate((url) => fetch(url).then(({ status }) => status), `/v1${path}`);
const cookieOf = async (context: BrowserContext) => {
  const found = (await context.cookies()).find(({ name }) => name === 'svc_session');
  return `svc_session=${found?.value}`;
};

describe('a passkey', { timeout: LIMIT_MS }, () => {
  /** Browsers have passkeys for localhost, not for addresses. */
  async function openAccount() {
    const url = service.server.origin.replace('127.0.0.1', 'localhost');
    const member = await signIn(service, 'DEVELOPER', { name: 'Beto' });
    const look = { viewport: desktop, colorScheme: 'light', locale: 'en-US', reducedMotion: 'reduce' } as const;
    const page = await takePage(dashboards.browser, url, look);
    const cookie = { name: 'svc_session', value: member.token, url, httpOnly: true, sameSite: 'Lax' } as const;
    await page.context().addCookies([cookie]);
    await page.goto(`${url}/dashboard/account`);
    await shows(page, 'Account');
    return { page, member };
  }

  async function register(page: Page, name: string) {
    await button(page, 'Add a passkey').click();
    await dialog(page).getByLabel('Name of the passkey').fill(name);
    await dialog(page).getByRole('button', { name: 'Add a passkey' }).click();
  }

  it('is added on the account page, signs in, and no longer does after its removal', async () => {
    const { page, member } = await openAccount();
    await addAuthenticator(page);
    await register(page, 'Work laptop');
    await row(page, 'Work laptop').getByText('Never').waitFor();
    await expectAccessibleEverywhere(page, 'account-passkey');

    const signOut = async () => {
      await accountMenu(page).click();
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
      await shows(page, 'Sign in');
      expect(await statusOf(page, '/session')).toBe(401);
    };
    await signOut();
    await button(page, 'Sign in with a passkey').click();
    await accountMenu(page).waitFor();
    const session = await page.evaluate(() => fetch('/v1/session').then((answer) => answer.json()));
    expect(session).toMatchObject({ member: { id: member.memberId, name: 'Beto', role: 'DEVELOPER' } });

    await page.goto(page.url().replace(/\/dashboard.*/, '/dashboard/account'));
    await expect.poll(() => row(page, 'Work laptop').getByText('Never').count()).toBe(0);
    await row(page, 'Work laptop').getByRole('button', { name: 'Remove' }).click();
    await dialog(page).getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No passkey yet').waitFor();
    await signOut();
    await button(page, 'Sign in with a passkey').click();
    await page.getByText('This passkey does not sign in here').waitFor();
  });

  it('is added once on each device, and not without the lock of the device', async () => {
    const { page } = await openAccount();
    await addAuthenticator(page);
    await register(page, 'Phone');
    await row(page, 'Phone').waitFor();
    await dialog(page).waitFor({ state: 'detached' });
    await register(page, 'Phone again');
    await dialog(page).getByText('This device has a passkey of yours already.').waitFor();

    const other = await openAccount();
    await addAuthenticator(other.page, { isUserVerified: false });
    await register(other.page, 'Phone');
    await dialog(other.page).getByText('No passkey was made.').waitFor();
    await dialog(other.page).getByRole('button', { name: 'Close' }).click();
    await other.page.getByText('No passkey yet').waitFor();
  });
});

describe('a link', { timeout: LIMIT_MS }, () => {
  it('is asked for on the sign-in page, and signs in once', async () => {
    const { email } = await signIn(service, 'VIEWER', { email: newAddress() });
    const { page, context, complaints } = await dashboards.open('/developers/webhooks', { role: null });
    await shows(page, 'Sign in');
    await expectAccessibleEverywhere(page);
    await page.getByLabel('E-mail address').fill(email);
    await button(page, 'Send me a link').click();
    await page.getByText(`If ${email} belongs to a member`).waitFor();
    await expectAccessible(page, 'sign-in-sent');

    const link = `${service.server.origin}/dashboard/sign-in/${await mailedLink(service, email)}`;
    await page.goto(link);
    await shows(page, 'Sign in to the dashboard');
    await expectAccessibleEverywhere(page, 'sign-in-link');
    await button(page, 'Continue').click();
    // The page that was asked for first.
    await shows(page, 'Webhooks');
    await accountMenu(page).waitFor();
    expect(new URL(page.url()).pathname).toBe('/dashboard/developers/webhooks');
    expect((await context.cookies())[0]).toMatchObject({ name: 'svc_session', httpOnly: true, sameSite: 'Lax' });

    const late = await dashboards.open('/sign-in?next=//evil.example/', { role: null });
    await late.page.goto(link);
    await button(late.page, 'Continue').click();
    await late.page.getByText('This link does not work any more').waitFor();
    await late.page.getByRole('link', { name: 'Ask for a new link' }).click();
    await shows(late.page, 'Sign in');
    expect(complaints).toEqual([]);
  });
});

describe('the members page', { timeout: LIMIT_MS }, () => {
  it('invites a person, who joins by the link, gets another role and is removed', async () => {
    const email = newAddress();
    const owner = await dashboards.open('/settings/members', { name: 'Olga' });
    await shows(owner.page, 'Members');
    await button(owner.page, 'Invite a member').click();
    await dialog(owner.page).getByLabel('E-mail address').fill(email);
    await expectAccessible(owner.page, 'members-invite');
    await dialog(owner.page).getByRole('combobox', { name: 'Role' }).click();
    await owner.page.getByRole('option', { name: 'Viewer' }).click();
    await dialog(owner.page).getByRole('button', { name: 'Invite a member' }).click();
    await row(owner.page, email).getByText('Invited').waitFor();
    await expectAccessibleEverywhere(owner.page, 'members');

    const token = await mailedLink(service, email);
    const { page } = await dashboards.open(`/invitation/${token}`, { role: null });
    await shows(page, 'You are invited');
    await expectAccessibleEverywhere(page, 'invitation');
    await page.getByLabel('Your name').fill('Carla');
    await button(page, 'Accept the invitation').click();
    await page.getByRole('button', { name: 'Account of Carla' }).waitFor();
    expect(await statusOf(page, '/organization/members')).toBe(200);

    await owner.page.reload();
    await row(owner.page, email).getByText('Carla').waitFor();
    await row(owner.page, email).getByText('Active').waitFor();
    await owner.page.getByRole('combobox', { name: `Role of ${email}` }).click();
    await owner.page.getByRole('option', { name: 'Developer' }).click();
    await owner.page.getByText(`${email} has a new role`).waitFor();
    const session = await page.evaluate(() => fetch('/v1/session').then((answer) => answer.json()));
    expect(session).toMatchObject({ member: { role: 'DEVELOPER' } });

    await choose(owner.page, `Actions for ${email}`, 'Remove');
    await dialog(owner.page).getByRole('button', { name: 'Remove' }).click();
    await owner.page.getByText('Member removed').waitFor();
    await expect.poll(() => row(owner.page, email).count()).toBe(0);
    expect(await statusOf(page, '/session')).toBe(401);
    await page.reload();
    await shows(page, 'Sign in');
  });

  it('withdraws an invitation, whose link then says so', async () => {
    const email = newAddress();
    const owner = await dashboards.open('/settings/members');
    await button(owner.page, 'Invite a member').click();
    await dialog(owner.page).getByLabel('E-mail address').fill(email);
    await dialog(owner.page).getByRole('button', { name: 'Invite a member' }).click();
    const token = await mailedLink(service, email);
    await choose(owner.page, `Actions for ${email}`, 'Withdraw');
    await dialog(owner.page).getByRole('button', { name: 'Withdraw' }).click();
    await owner.page.getByText('Invitation withdrawn').waitFor();
    const { page } = await dashboards.open(`/invitation/${token}`, { role: null });
    await button(page, 'Accept the invitation').click();
    await page.getByText('Ask the owner who invited you').waitFor();
  });

  it('keeps the last owner, and says why', async () => {
    const { id: organizationId } = await service.organization();
    const { page, member } = await dashboards.open('/settings/members', { organizationId });
    await choose(page, `Actions for ${member?.email}`, 'Remove');
    await dialog(page).getByRole('button', { name: 'Remove' }).click();
    await dialog(page).getByText('An organisation keeps one owner at least').waitFor();
  });

  it('shows a developer the members, and nothing to change them with', async () => {
    const { page } = await dashboards.open('/settings/members', { role: 'DEVELOPER' });
    await page.getByText('Owners invite and remove members').waitFor();
    await row(page, '(You)').waitFor();
    await expect.poll(() => page.locator('main').getByRole('button').count()).toBe(0);
    await expect.poll(() => page.locator('main').getByRole('combobox').count()).toBe(0);
  });

  it('says what is missing to an owner who became a viewer meanwhile', async () => {
    const { page, member } = await dashboards.open('/settings/members', { name: newId('Former owner') });
    await button(page, 'Invite a member').click();
    const other = await signIn(service, 'OWNER');
    const { baseUrl } = service.server.credentials;
    const path = `${baseUrl}/organization/members/${member?.memberId}`;
    const changed = await send(path, { method: 'PATCH', headers: other.headers, body: { role: 'VIEWER' } });
    expect(changed.status).toBe(200);
    await dialog(page).getByLabel('E-mail address').fill(newAddress());
    await dialog(page).getByRole('button', { name: 'Invite a member' }).click();
    await dialog(page).getByText('Your role is VIEWER. This needs the role OWNER or above.').waitFor();
  });
});

describe('the pages', { timeout: LIMIT_MS }, () => {
  const actions = [
    ['/gifts', 'Gifts', /New gift/],
    ['/developers/keys', 'API keys', /Create key/],
    ['/developers/webhooks', 'Webhooks', /Add webhook/],
    ['/settings/branding', 'Branding', /Save/],
    ['/services', 'Services', /New service/],
    ['/settings/members', 'Members', /Invite a member/],
  ] as const;
  const offered = {
    OWNER: ['Gifts', 'API keys', 'Webhooks', 'Branding', 'Services', 'Members'],
    DEVELOPER: ['Gifts', 'API keys', 'Webhooks', 'Services'],
    VIEWER: [],
  };
  it.each(['OWNER', 'DEVELOPER', 'VIEWER'] as const)('offer a member who is %s what the role allows', async (role) => {
    const { page } = await dashboards.open('/gifts', { role });
    const found: string[] = [];
    for (const [path, title, action] of actions) {
      await follow(page, path);
      await shows(page, title);
      await page.locator('main .skeleton').first().waitFor({ state: 'detached' });
      const offers = page.locator('main').locator('button, a').filter({ hasText: action });
      if ((await offers.count()) > 0) found.push(title);
    }
    expect(found).toEqual(offered[role]);
  });
});

describe('the account page', { timeout: LIMIT_MS }, () => {
  it('ends the session of another browser, whose cookie is useless from then on', async () => {
    const { page, member, complaints } = await dashboards.open('/account', { name: 'Dora' });
    const other = await dashboards.open('/account', { email: member?.email ?? '' });
    const stolen = { cookie: await cookieOf(other.context), origin: service.server.origin };
    const session = `${service.server.credentials.baseUrl}/session`;
    expect((await send(session, { headers: stolen })).status).toBe(200);
    await page.reload();
    const table = page.getByRole('table', { name: 'Sessions' });
    await table.getByText('This session').waitFor();
    await expectAccessibleEverywhere(page);
    await table.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('Session ended').waitFor();
    expect((await send(session, { headers: stolen })).status).toBe(401);
    await button(other.page, 'Sign out everywhere').click();
    await dialog(other.page).getByRole('button', { name: 'Sign out everywhere' }).click();
    await shows(other.page, 'Sign in');
    expect((await send(session, { headers: { cookie: await cookieOf(page.context()) } })).status).toBe(200);
    expect(complaints).toEqual([]);
  });

  it('changes the name, which the account menu shows', async () => {
    const { page } = await dashboards.open('/account', { name: 'Dora' });
    await page.getByLabel('Your name').fill('Dora Díaz');
    await button(page, 'Save').click();
    await page.getByRole('button', { name: 'Account of Dora Díaz' }).waitFor();
  });

  it('signs out everywhere', async () => {
    const { page, context } = await dashboards.open('/account');
    const stolen = { cookie: await cookieOf(context) };
    await button(page, 'Sign out everywhere').click();
    await dialog(page).getByRole('button', { name: 'Sign out everywhere' }).click();
    await shows(page, 'Sign in');
    expect((await send(`${service.server.credentials.baseUrl}/session`, { headers: stolen })).status).toBe(401);
  });
});

describe('a member of several organisations', { timeout: LIMIT_MS }, () => {
  it('switches between them in the sidebar, in every tab', async () => {
    const { page, context, member } = await dashboards.open('/settings/members', { name: 'Eva' });
    const other = await service.organization({ name: 'Tienda Roja' });
    await signIn(service, 'VIEWER', { email: member?.email ?? '', organizationId: other.id });
    await page.reload();
    const tab = await context.newPage();
    await tab.goto(`${service.server.origin}/dashboard/settings/members`);
    await tab.getByRole('button', { name: 'Organisation: Development' }).waitFor();

    await page.getByRole('button', { name: 'Organisation: Development' }).click();
    await page.getByRole('menuitemradio', { name: /Tienda Roja/ }).waitFor();
    await expectAccessible(page, 'organization-menu');
    await page.getByRole('menuitemradio', { name: /Tienda Roja/ }).click();
    for (const each of [page, tab]) {
      await each.getByRole('button', { name: 'Organisation: Tienda Roja' }).waitFor();
      expect(new URL(each.url()).pathname).toBe('/dashboard/');
    }
    const session = await page.evaluate(() => fetch('/v1/session').then((answer) => answer.json()));
    expect(session).toMatchObject({ organization: { id: other.id }, member: { role: 'VIEWER' } });
  });

  it('switches on a phone, and sees no switch with one organisation', async () => {
    const one = await dashboards.open('/settings/members', { viewport: phone });
    await button(one.page, 'Open the menu').click();
    await one.page.getByRole('navigation').getByText('Development').waitFor();
    await expect.poll(() => one.page.getByRole('button', { name: /^Organisation:/ }).count()).toBe(0);

    const other = await service.organization({ name: 'Tienda Verde' });
    await signIn(service, 'VIEWER', { email: one.member?.email ?? '', organizationId: other.id });
    await one.page.reload();
    await button(one.page, 'Open the menu').click();
    await one.page.getByRole('button', { name: 'Organisation: Development' }).click();
    await one.page.getByRole('menuitemradio', { name: /Tienda Verde/ }).click();
    await button(one.page, 'Open the menu').click();
    await one.page.getByRole('button', { name: 'Organisation: Tienda Verde' }).waitFor();
  });
});
