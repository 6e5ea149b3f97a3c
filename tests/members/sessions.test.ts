import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectError } from '../support/assertions.ts';
import { send } from '../support/client.ts';
import { signIn } from '../support/members.ts';
import { type AnyService, TestService } from '../support/service.ts';

let service: AnyService;
let v1: string;
beforeAll(async () => {
  service = await TestService.shared();
  v1 = service.server.credentials.baseUrl;
});
afterAll(() => service.stop());

const cookieOf = (headers: Headers) => headers.get('set-cookie') ?? '';

describe('a session', () => {
  it('says who is signed in, and reads and changes what its role allows', async () => {
    const owner = await signIn(service, 'OWNER');
    const { body } = await send(`${v1}/session`, { headers: owner.headers });
    expect(body).toMatchObject({
      id: owner.sessionId,
      member: { id: owner.memberId, email: owner.email, role: 'OWNER' },
      organization: { id: service.server.credentials.organizationId },
      isOperator: false,
    });
    const { headers } = owner;
    expect((await send(`${v1}/organization`, { headers })).status).toBe(200);
    const changed = await send(`${v1}/organization/settings`, {
      method: 'PATCH',
      headers,
      body: { notificationEmail: owner.email },
    });
    expect(changed.status).toBe(200);
    const log = await send(`${v1}/organization/audit-log`, { headers });
    expect(log.body).toMatchObject({ data: [{ actor: `member:${owner.memberId}`, actorName: owner.email }] });
  });

  it('names its environment at every endpoint for keys', async () => {
    const { headers } = await signIn(service, 'OWNER');
    const { 'x-svc-environment': _, ...without } = headers;
    expectError(await send(`${v1}/organization`, { headers: without }), 400, 'environment_required');
    const wrong = { ...headers, 'x-svc-environment': 'staging' };
    expectError(await send(`${v1}/organization`, { headers: wrong }), 400, 'environment_required');
    expect((await send(`${v1}/session`, { headers: without })).status).toBe(200);
  });

  it('is ended by signing out, and its cookie is useless from then on', async () => {
    const { headers } = await signIn(service, 'OWNER');
    const out = await send(`${v1}/session`, { method: 'DELETE', headers });
    expect(out.status).toBe(200);
    expect(cookieOf(out.headers)).toMatch(/^svc_session=; .*Max-Age=0/);
    for (const path of ['/session', '/organization']) {
      expectError(await send(v1 + path, { headers }), 401, 'invalid_session');
    }
  });

  it('is ignored where a key is sent', async () => {
    const { headers } = await signIn(service, 'OWNER');
    const wrong = { ...headers, authorization: `Bearer sk_dev_${'Q'.repeat(36)}`, 'x-api-key': 'pk' };
    expectError(await send(`${v1}/organization`, { headers: wrong }), 401, 'invalid_api_key');
    expectError(await send(`${v1}/session`, { headers: service.app.headers }), 401, 'sign_in_required');
  });
});

describe('the link of the embedded default', () => {
  const local = () => ({ origin: service.server.origin });
  const newLink = async () => {
    const { status, body } = await send(`${v1}/session/development`, { method: 'POST', headers: local() });
    expect(status).toBe(200);
    return (body as { path: string }).path.split('/').at(-1) ?? '';
  };
  const redeem = (token: string, headers: Record<string, string> = local()) =>
    send(`${v1}/session/mail-links/redeem`, { method: 'POST', headers, body: { token } });

  it('signs in once, with a cookie that scripts cannot read', async () => {
    const token = await newLink();
    const { status, headers, body } = await redeem(token);
    expect(status).toBe(200);
    expect(body).toMatchObject({ member: { role: 'OWNER' }, isOperator: true });
    expect(cookieOf(headers)).toMatch(/^svc_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=2592000$/);
    const cookie = cookieOf(headers).split(';')[0] ?? '';
    expect((await send(`${v1}/session`, { headers: { cookie } })).status).toBe(200);
    expectError(await redeem(token), 400, 'invalid_link');
  });

  it('starts one session: a repeated request is refused, with or without an Idempotency-Key', async () => {
    const token = await newLink();
    const headers = { ...local(), 'idempotency-key': token };
    expect(cookieOf((await redeem(token, headers)).headers)).toMatch(/^svc_session=/);
    const again = await redeem(token, headers);
    expectError(again, 400, 'invalid_link');
    expect(again.headers.get('set-cookie')).toBeNull();
    expect(again.headers.get('idempotency-replayed')).toBeNull();
  });

  it('is made and used only by pages of this service', async () => {
    for (const headers of [{}, { origin: 'http://evil.example' }, { 'sec-fetch-site': 'cross-site' }]) {
      const asked = await send(`${v1}/session/development`, { method: 'POST', headers });
      expectError(asked, 400, 'origin_not_allowed');
      expectError(await redeem('x'.repeat(43), headers), 400, 'origin_not_allowed');
    }
  });
});
