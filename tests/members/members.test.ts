import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectError } from '../support/assertions.ts';
import { send } from '../support/client.ts';
import { mailedLink, type SignedIn, signIn } from '../support/members.ts';
import { type AnyService, TestService } from '../support/service.ts';

let service: AnyService;
let v1: string;
beforeAll(async () => {
  service = await TestService.shared();
  v1 = service.server.credentials.baseUrl;
});
afterAll(() => service.stop());

let addresses = 0;
const newAddress = () => `${service.server.credentials.organizationId}.${addresses++}@tienda.example`;
const page = () => ({ origin: service.server.origin });

const linkTo = (address: string) => mailedLink(service, address);
const redeem = (token: string, name?: string) =>
  send(`${v1}/session/mail-links/redeem`, { method: 'POST', headers: page(), body: { token, name } });
const cookieOf = ({ headers }: { headers: Headers }) => (headers.get('set-cookie') ?? '').split(';')[0] ?? '';
const as = ({ headers }: SignedIn, path: string, method = 'GET', body?: unknown) =>
  send(v1 + path, { method, headers, ...(body !== undefined && { body }) });

describe('signing in by mail', () => {
  it('sends a link to a member, and answers the same for everyone else', async () => {
    const member = await signIn(service, 'VIEWER', { email: newAddress() });
    const ask = (email: string) =>
      send(`${v1}/session/mail-links`, { method: 'POST', headers: page(), body: { email } });
    const [known, unknown] = [await ask(member.email.toUpperCase()), await ask(newAddress())];
    expect([known.status, known.text]).toEqual([unknown.status, unknown.text]);
    const token = await linkTo(member.email);
    const answer = await redeem(token);
    expect(answer.body).toMatchObject({ member: { email: member.email, role: 'VIEWER' } });
    expectError(await redeem(token), 400, 'invalid_link');
    expect((await send(`${v1}/session`, { headers: { cookie: cookieOf(answer) } })).status).toBe(200);
  });
});

describe('the members of an organisation', () => {
  it('are invited by mail, join with the link, change their role and are removed, all in the audit log', async () => {
    const owner = await signIn(service, 'OWNER');
    const email = newAddress();
    const invited = await as(owner, '/organization/members', 'POST', { email, role: 'VIEWER' });
    expect(invited.status).toBe(201);
    const { id } = invited.body as { id: string };
    expect(invited.body).toMatchObject({ email, role: 'VIEWER', state: 'INVITED' });
    expect(invited.text).not.toContain('/invitation/');

    const joined = await redeem(await linkTo(email), 'Beto');
    expect(joined.body).toMatchObject({ member: { id, email, name: 'Beto', role: 'VIEWER' } });
    const viewer = { cookie: cookieOf(joined), ...page(), 'x-svc-environment': 'development' };
    const change = () =>
      send(`${v1}/organization/settings`, { method: 'PATCH', headers: viewer, body: { notificationEmail: email } });
    expectError(await change(), 401, 'role_not_sufficient');
    expect((await as(owner, `/organization/members/${id}`, 'PATCH', { role: 'DEVELOPER' })).status).toBe(200);
    expect((await change()).status).toBe(200);
    expectError(await as(owner, '/organization/members', 'POST', { email, role: 'OWNER' }), 400, 'member_exists');

    expect((await as(owner, `/organization/members/${id}`, 'DELETE')).status).toBe(200);
    expectError(await change(), 401, 'invalid_session');
    const { body } = await as(owner, '/organization/members');
    expect((body as { data: { email: string }[] }).data.map((member) => member.email)).not.toContain(email);
    const log = (await as(owner, '/organization/audit-log?limit=20')).body as {
      data: { action: string; target: string; actorName: string | null }[];
    };
    const actions = log.data.filter(({ target }) => target === id).map(({ action, actorName }) => [action, actorName]);
    expect(actions).toEqual([
      ['member.removed', owner.email],
      ['member.updated', owner.email],
      ['member.joined', email],
      ['member.invited', owner.email],
    ]);
  });

  it('keep one owner, also when two owners act at once', async () => {
    const { id: organizationId } = await service.organization();
    const [one, other] = [
      await signIn(service, 'OWNER', { organizationId }),
      await signIn(service, 'OWNER', { organizationId }),
    ];
    const replies = await Promise.all([
      as(one, `/organization/members/${other.memberId}`, 'DELETE'),
      as(other, `/organization/members/${one.memberId}`, 'DELETE'),
    ]);
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    const left = replies[0]?.status === 200 ? one : other;
    const path = `/organization/members/${left.memberId}`;
    expectError(await as(left, path, 'DELETE'), 400, 'last_owner');
    expectError(await as(left, path, 'PATCH', { role: 'VIEWER' }), 400, 'last_owner');
  });

  it('of another organisation do not exist', async () => {
    const stranger = await signIn(service, 'OWNER', { organizationId: (await service.organization()).id });
    const member = await signIn(service, 'VIEWER');
    const path = `/organization/members/${member.memberId}`;
    expectError(await as(stranger, path, 'DELETE'), 404, 'member_not_found');
    expectError(await as(stranger, path, 'PATCH', { role: 'OWNER' }), 404, 'member_not_found');
    const switched = await as(stranger, '/session/organization', 'POST', {
      organizationId: service.server.credentials.organizationId,
    });
    expectError(switched, 404, 'organization_not_found');
  });

  it('of several organisations choose one', async () => {
    const other = await service.organization({ name: 'Tienda Roja' });
    const member = await signIn(service, 'OWNER');
    await signIn(service, 'VIEWER', { email: member.email, organizationId: other.id });
    const { body } = await as(member, '/session/organization', 'POST', { organizationId: other.id });
    expect(body).toMatchObject({ organization: { id: other.id }, member: { role: 'VIEWER' } });
    expect((await as(member, '/organization')).body).toMatchObject({ id: other.id });
    expectError(await as(member, '/gifts', 'POST', {}), 401, 'role_not_sufficient');
  });
});

describe('own sessions', () => {
  it('are listed, and one that is ended stops working', async () => {
    const laptop = await signIn(service, 'DEVELOPER');
    const phone = await signIn(service, 'DEVELOPER', { email: laptop.email });
    const list = (await as(laptop, '/session/sessions')).body as { data: { id: string; isCurrent: boolean }[] };
    expect(list.data.map(({ id, isCurrent }) => [id, isCurrent])).toEqual([
      [phone.sessionId, false],
      [laptop.sessionId, true],
    ]);
    expect((await as(laptop, `/session/sessions/${phone.sessionId}`, 'DELETE')).status).toBe(200);
    expectError(await as(phone, '/session'), 401, 'invalid_session');
    expect((await as(laptop, '/session')).status).toBe(200);
  });

  it('of another person cannot be ended', async () => {
    const [one, other] = [await signIn(service, 'OWNER'), await signIn(service, 'VIEWER')];
    expectError(await as(one, `/session/sessions/${other.sessionId}`, 'DELETE'), 404, 'session_not_found');
    expect((await as(other, '/session')).status).toBe(200);
  });

  it('are all ended at once', async () => {
    const one = await signIn(service, 'OWNER');
    const other = await signIn(service, 'OWNER', { email: one.email });
    expect((await as(one, '/session/sessions', 'DELETE')).status).toBe(200);
    for (const ended of [one, other]) expectError(await as(ended, '/session'), 401, 'invalid_session');
  });
});

describe('passkeys', () => {
  const options = async (member: SignedIn) =>
    ((await as(member, '/session/passkeys/own/options', 'POST')).body as { options: { challenge: string } }).options;

  it('are refused with an answer that was not given by one', async () => {
    const member = await signIn(service, 'OWNER');
    const { challenge } = await options(member);
    const clientData = { type: 'webauthn.create', challenge, origin: service.server.origin };
    const response = {
      id: 'AQIDBA',
      rawId: 'AQIDBA',
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        clientDataJSON: Buffer.from(JSON.stringify(clientData)).toString('base64url'),
        attestationObject: 'oA',
      },
    };
    const register = await as(member, '/session/passkeys/own', 'POST', { response, name: 'Laptop' });
    expectError(register, 400, 'invalid_passkey');
    const verify = await send(`${v1}/session/passkeys/verify`, { method: 'POST', headers: page(), body: { response } });
    expectError(verify, 400, 'invalid_passkey');
    expect(verify.headers.get('set-cookie')).toBeNull();
    expect((await as(member, '/session/passkeys/own')).body).toEqual({ data: [] });
  });
});
