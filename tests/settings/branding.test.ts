import { endpoints } from '@svc/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectAnswer, expectError } from '../support/assertions.ts';
import { send } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { type AnyService, TestService } from '../support/service.ts';

/** One pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

let service: AnyService;
beforeAll(async () => {
  service = await TestService.shared();
});
afterAll(() => service.stop());

const update = (body: object) => service.app.patch('/organization/branding', body);
const logoOf = (body: unknown) => (body as { logoUrl: string }).logoUrl;

describe('branding', () => {
  it('is empty at first, and a claim names no brand then', async () => {
    const app = await service.organization();
    const reply = await app.get('/organization/branding');
    expectAnswer(reply, endpoints.getBranding);
    expect(reply.body).toMatchObject({ name: null, color: null, logoUrl: null, updatedAt: null });
    const { code } = await service.gift();
    expect((await send(`${app.baseUrl}/gifts/claim/${code}`)).body).not.toHaveProperty('brand');
  });

  it('shows on claims, as an image that can be nothing else, and in mails', async () => {
    const reply = await update({ name: 'Tienda Azul', color: '#FFD400', logo: PNG });
    expectAnswer(reply, endpoints.updateBranding);
    expect(reply.body).toMatchObject({ name: 'Tienda Azul', color: '#ffd400', textColor: '#000000' });
    const { code } = await service.gift();
    const claim = await send(`${service.app.baseUrl}/gifts/claim/${code}`);
    expectAnswer(claim, endpoints.claimGift);
    const { updatedAt: _, ...brand } = reply.body as Record<string, unknown>;
    expect(claim.body).toMatchObject({ valid: true, brand });

    const image = await fetch(logoOf(reply.body));
    expect([image.status, Buffer.from(await image.arrayBuffer()).toString('base64')]).toEqual([200, PNG]);
    expect(Object.fromEntries(image.headers)).toMatchObject({
      'content-type': 'image/png',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining('sandbox'),
    });

    const recipients = [{ email: 'brand@example.com' }];
    const gifts = { name: 'Premio', amount: 1, token: 'USDC', chain: 'STARKNET', recipients };
    expect((await service.app.post('/gifts/bulk', gifts)).status).toBe(201);
    const mailbox = `${service.server.origin}/sandbox/mailbox`;
    const listed = await eventually(
      async () => ((await send(mailbox)).body as { mails: { id: number; to: string }[] }).mails,
      (mails) => mails.some(({ to }) => to === 'brand@example.com'),
    );
    const id = listed.find(({ to }) => to === 'brand@example.com')?.id;
    const { html, subject } = (await send(`${mailbox}/${id}`)).body as { html: string; subject: string };
    expect(subject).toContain('Tienda Azul');
    expect(html).toContain(`<img src="${logoOf(reply.body)}" alt="Tienda Azul"`);
    expect(html).toContain('background:#ffd400;color:#000000');
  });

  it('changes what is given, clears what is null, and forgets a replaced logo', async () => {
    const before = logoOf((await update({ logo: PNG, name: 'Uno' })).body);
    const after = await update({ logo: null });
    expect(after.body).toMatchObject({ name: 'Uno', logoUrl: null });
    expect((await fetch(before)).status).toBe(404);
  });

  it.each([
    ['a logo that is no image', { logo: Buffer.from('<svg onload="alert(1)"/>').toString('base64') }],
    ['an image with something behind it', { logo: Buffer.from(`${atob(PNG)}<script>`, 'latin1').toString('base64') }],
    ['a logo that is too large', { logo: Buffer.alloc(128 * 1024 + 3).toString('base64') }],
    ['a colour that is a style', { color: 'red;background:url(x)' }],
    ['a name of blanks', { name: '   ' }],
    ['nothing', {}],
  ])('refuses %s, and nothing changes', async (_, body) => {
    const before = (await service.app.get('/organization/branding')).body;
    expectError(await update(body), 400, 'invalid_request');
    expect((await service.app.get('/organization/branding')).body).toEqual(before);
  });

  it('belongs to one environment, and is in the audit log', async () => {
    const development = await service.organization();
    const production = await service.organization({ id: development.id, environment: 'production' });
    expect((await development.patch('/organization/branding', { name: 'Dos' })).status).toBe(200);
    expect((await production.get('/organization/branding')).body).toMatchObject({ name: null });
    const { data } = (await development.get('/organization/audit-log')).body as { data: object[] };
    const actor = development.keys.secretKeyId;
    expect(data[0]).toMatchObject({ action: 'branding.updated', actor, changes: { name: 'Dos' } });
  });
});
