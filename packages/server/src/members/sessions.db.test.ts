import { type Db, sql } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { newOwner, useDatabase } from '../../testing/database.ts';
import * as store from './member-store.ts';
import * as sessions from './sessions.ts';

const database = useDatabase();
const db = () => database.db();

let people = 0;
async function newMember({ joined = true }: { joined?: boolean } = {}) {
  const { organizationId } = await newOwner(db());
  const { id: personId } = await store.ensurePerson(db(), `Person.${people++}@Tienda.example`);
  const memberId = await store.insertMember(db(), { organizationId, personId, role: 'DEVELOPER', joined });
  return { organizationId, personId, memberId };
}

async function newSession() {
  const member = await newMember();
  const { id, token } = await sessions.startSession(db(), { ...member, userAgent: 'Firefox' });
  return { ...member, id, token, find: () => sessions.findSession(db(), sessions.hashToken(token)) };
}

const age = (id: string, column: 'last_seen_at' | 'expires_at', interval: string) =>
  db().run(sql`
    update member_sessions
       set last_seen_at = case when ${column} = 'last_seen_at' then now() + ${interval}::interval else last_seen_at end,
           expires_at = case when ${column} = 'expires_at' then now() + ${interval}::interval else expires_at end
     where id = ${id}`);

describe('a session', () => {
  it('has the role of its person in the organisation chosen, while the person is a member', async () => {
    const { find, memberId, organizationId } = await newSession();
    expect(await find()).toMatchObject({ memberId, organizationId, role: 'DEVELOPER', isOperator: false });
    await store.setRole(db(), memberId, 'VIEWER');
    expect(await find()).toMatchObject({ role: 'VIEWER' });
    await store.removeMember(db(), memberId);
    expect(await find()).toMatchObject({ memberId: null, organizationId: null, role: null });
  });

  it('is stored without its token', async () => {
    const { id, token } = await newSession();
    const row = await db().one(sql`select to_jsonb(s)::text as kept from member_sessions s where id = ${id}`);
    expect(JSON.stringify(row)).not.toContain(token);
  });

  it('ends after 12 hours without use, after 30 days, and when it is revoked', async () => {
    const idle = await newSession();
    await age(idle.id, 'last_seen_at', '-11 hours 59 minutes');
    expect(await idle.find()).toBeDefined();
    await age(idle.id, 'last_seen_at', '-12 hours');
    expect(await idle.find()).toBeUndefined();

    const old = await newSession();
    const found = await old.find();
    expect((found?.expiresAt.getTime() ?? 0) - Date.now()).toBeGreaterThan(29.9 * 86_400_000);
    await age(old.id, 'expires_at', '-1 second');
    expect(await old.find()).toBeUndefined();

    const revoked = await newSession();
    expect(await sessions.revokeSession(db(), old.personId, revoked.id)).toBe(false);
    expect(await revoked.find()).toBeDefined();
    expect(await sessions.revokeSession(db(), revoked.personId, revoked.id)).toBe(true);
    expect(await revoked.find()).toBeUndefined();
  });

  it('ends where its person has more than twenty newer ones', async () => {
    const { personId, organizationId, find } = await newSession();
    const another = () => sessions.startSession(db(), { personId, organizationId, userAgent: undefined });
    for (let i = 0; i < 19; i++) await another();
    expect(await find()).toBeDefined();
    await another();
    expect(await find()).toBeUndefined();
    expect(await sessions.listSessions(db(), personId)).toHaveLength(20);
  });

  it('notes its use once in five minutes', async () => {
    const { find, id } = await newSession();
    await age(id, 'last_seen_at', '-1 hour');
    const row = await find();
    if (!row) throw new Error('The session is gone.');
    await sessions.touchSession(db(), row, Date.now());
    const seen = (await find())?.lastSeenAt.getTime() ?? 0;
    expect(Date.now() - seen).toBeLessThan(60_000);
    await sessions.touchSession(db(), row, Date.now() + 60_000);
    expect((await find())?.lastSeenAt.getTime()).toBe(seen);
  });
});

describe('the cookie', () => {
  it('is for this host alone, by https alone where the service is', () => {
    expect(sessions.sessionCookie('t', true)).toBe(
      '__Host-svc_session=t; Path=/; HttpOnly; SameSite=Lax; Max-Age=2592000; Secure',
    );
    expect(sessions.sessionCookie('t', false)).toBe('svc_session=t; Path=/; HttpOnly; SameSite=Lax; Max-Age=2592000');
  });

  it('is read by its exact name', () => {
    expect(sessions.readSessionCookie('a=1; svc_session=t; b=2', false)).toBe('t');
    expect(sessions.readSessionCookie('a=1;__Host-svc_session=t', true)).toBe('t');
    expect(sessions.readSessionCookie('svc_session=t', true)).toBeUndefined();
    expect(sessions.readSessionCookie('xsvc_session=t; svc_sessions=u', false)).toBeUndefined();
    expect(sessions.readSessionCookie(undefined, false)).toBeUndefined();
  });
});

describe('a link', () => {
  const invalid = { code: 'invalid_link', status: 400 };
  const redeem = (token: string) => db().tx((tx: Db) => sessions.redeemLink(tx, token, undefined, 'Firefox'));

  it('signs in once, also when it is used twice at once', async () => {
    const { personId } = await newMember();
    const { token } = await sessions.createLink(db(), { personId, purpose: 'SIGN_IN' });
    const results = await Promise.allSettled([redeem(token), redeem(token), redeem(token)]);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await expect(redeem(token)).rejects.toMatchObject(invalid);
  });

  it('works for 15 minutes; an invitation for 7 days', async () => {
    const { personId } = await newMember();
    const minutes = async (purpose: 'SIGN_IN' | 'INVITATION') =>
      Math.round(((await sessions.createLink(db(), { personId, purpose })).expiresAt.getTime() - Date.now()) / 60_000);
    expect(await minutes('SIGN_IN')).toBe(15);
    expect(await minutes('INVITATION')).toBe(7 * 24 * 60);
    const { token } = await sessions.createLink(db(), { personId, purpose: 'SIGN_IN' });
    await db().run(sql`
      update sign_in_links set expires_at = now() where token_hash = ${sessions.hashToken(token)}`);
    await expect(redeem(token)).rejects.toMatchObject(invalid);
  });

  it('of an invitation makes a member, unless it was withdrawn', async () => {
    const { personId, organizationId, memberId } = await newMember({ joined: false });
    const invitation = { personId, purpose: 'INVITATION', organizationId, memberId } as const;
    const withdrawn = await sessions.createLink(db(), invitation);
    await sessions.cancelLinks(db(), memberId);
    await expect(redeem(withdrawn.token)).rejects.toMatchObject(invalid);
    const { token } = await sessions.createLink(db(), invitation);
    const { token: cookie, joined } = await redeem(token);
    expect(joined).toMatchObject({ id: memberId });
    expect(await sessions.findSession(db(), sessions.hashToken(cookie))).toMatchObject({ organizationId, memberId });
  });

  it('signs nobody in who is no member any more', async () => {
    const { personId, memberId } = await newMember();
    const { token } = await sessions.createLink(db(), { personId, purpose: 'SIGN_IN' });
    await store.removeMember(db(), memberId);
    await expect(redeem(token)).rejects.toMatchObject(invalid);
  });

  it('that is no link is refused', async () => {
    for (const token of ['', 'x'.repeat(43), 'x'.repeat(100), "' or 1=1"]) {
      await expect(redeem(token)).rejects.toMatchObject(invalid);
    }
  });
});
