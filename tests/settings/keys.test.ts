import { randomUUID } from 'node:crypto';
import { endpoints } from '@svc/protocol';
import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bodyOf, type Headers, type Organization } from '../support/app.ts';
import { expectAnswer, expectError } from '../support/assertions.ts';
import { isAdmitted, send } from '../support/client.ts';
import { TestService } from '../support/service.ts';

/** A NOTIFY takes milliseconds; on a busy machine longer. */
const POLL = { timeout: 10_000, interval: 20 };

let service: TestService;
/** Two processes on one database. */
let urls: string[];
let us: Organization;

beforeAll(async () => {
  service = await TestService.hosted({ LOG_LEVEL: 'trace' });
  const second = await service.anotherHosted({ SVC_ROLE: 'api' });
  urls = [service.server, second].map(({ credentials }) => credentials.baseUrl);
});
afterAll(() => service.stop());

const newOrganization = () => service.organization();
const admitted = (headers: Headers) => Promise.all(urls.map((url) => isAdmitted(url, headers)));
const create = async (kind: 'public' | 'secret', who = us) =>
  bodyOf<ShownKey>(await who.post('/organization/keys', { kind }), 201);

interface ShownKey {
  readonly id: string;
  readonly key: string;
  readonly secretKey?: string | null;
}

describe('a key', () => {
  beforeAll(async () => {
    us = await newOrganization();
  });

  it('is rotated by script: made, used everywhere, and the old one revoked at once on every process', async () => {
    const [publicKey, secretKey] = [await create('public'), await create('secret')];
    const headers = { 'x-api-key': publicKey.key, authorization: `Bearer ${secretKey.secretKey}` };
    await expect.poll(() => admitted(headers), POLL).toEqual([true, true]);
    const old = us.keys.headers;
    expect(await admitted(old)).toEqual([true, true]);
    for (const id of [us.keys.publicKeyId, us.keys.secretKeyId]) {
      const reply = await send(`${urls[1]}/organization/keys/${id}`, { method: 'DELETE', headers });
      expectAnswer(reply, endpoints.revokeApiKey);
    }
    // The process that answers has dropped them; the other is notified.
    expect(await isAdmitted(urls[1] ?? '', old)).toBe(false);
    await expect.poll(() => admitted(old), POLL).toEqual([false, false]);
    expect(await admitted(headers)).toEqual([true, true]);
  });

  it('that is secret stops alone, and the public one beside it goes on', async () => {
    us = await newOrganization();
    const { id, secretKey } = await create('secret');
    const headers = { 'x-api-key': us.keys.publicKey, authorization: `Bearer ${secretKey}` };
    await expect.poll(() => admitted(headers), POLL).toEqual([true, true]);
    await us.delete(`/organization/keys/${id}`);
    await expect.poll(() => admitted(headers), POLL).toEqual([false, false]);
    expect(await admitted(us.keys.headers)).toEqual([true, true]);
  });

  it('is listed newest first, whole or masked, with when it was revoked', async () => {
    us = await newOrganization();
    const secret = await create('secret');
    const open = await create('public');
    await us.delete(`/organization/keys/${open.id}`);
    const reply = await us.get('/organization/keys?limit=2');
    expectAnswer(reply, endpoints.listApiKeys);
    expect(reply.body).toMatchObject({
      total: 4,
      totalPages: 2,
      data: [
        { id: open.id, kind: 'public', key: open.key, revokedAt: expect.any(String) },
        { id: secret.id, kind: 'secret', key: `sk_dev_…${secret.secretKey?.slice(-4)}`, revokedAt: null },
      ],
    });
    expect(reply.text).not.toContain(secret.secretKey);
  });

  it('cannot be revoked by the request that is made with it', async () => {
    us = await newOrganization();
    for (const id of [us.keys.publicKeyId, us.keys.secretKeyId]) {
      expectError(await us.delete(`/organization/keys/${id}`), 400, 'key_in_use');
    }
  });

  it('of another organisation or environment answers byte for byte like one that is not there', async () => {
    us = await newOrganization();
    const others = await newOrganization();
    const production = await service.organization({ id: us.id, environment: 'production' });
    const missing = await us.delete('/organization/keys/key_nothing');
    expectError(missing, 404, 'key_not_found');
    for (const id of [others.keys.publicKeyId, others.keys.secretKeyId, production.keys.secretKeyId]) {
      const reply = await us.delete(`/organization/keys/${id}`);
      expect([reply.status, reply.text]).toEqual([missing.status, missing.text]);
    }
    expect(await admitted(others.keys.headers)).toEqual([true, true]);
  });

  it('is shown whole in the first answer alone, also with an Idempotency-Key, and made once', async () => {
    us = await newOrganization();
    const again = { 'idempotency-key': randomUUID() };
    const replies = [
      await us.post('/organization/keys', { kind: 'secret' }, again),
      await us.post('/organization/keys', { kind: 'secret' }, again),
    ];
    for (const reply of replies) expectAnswer(reply, endpoints.createApiKey);
    const [first, second] = replies.map((reply) => bodyOf<ShownKey>(reply, 201));
    expect(first?.secretKey).toMatch(/^sk_dev_/);
    expect(second).toEqual({ ...first, secretKey: null });
    expect((await us.get('/organization/keys')).body).toMatchObject({ total: 3 });
    const rows = await service.database.db.rows(sql`
      select to_jsonb(k) as row from idempotency_keys k union all select to_jsonb(l) from audit_log l
      union all select to_jsonb(a) from api_keys a`);
    expect(JSON.stringify(rows)).not.toContain(first?.secretKey);
    expect(service.server.output()).not.toContain(first?.secretKey);
    expect(service.errors()).toEqual([]);
  });

  it('stands in the audit log with who made and revoked it', async () => {
    us = await newOrganization();
    const { id, key } = await create('secret');
    await us.delete(`/organization/keys/${id}`);
    const reply = await us.get('/organization/audit-log');
    expectAnswer(reply, endpoints.listAuditLog);
    const entry = { target: id, actor: us.keys.secretKeyId, changes: { kind: 'secret', key } };
    expect((reply.body as { data: object[] }).data).toMatchObject([
      { ...entry, action: 'key.revoked' },
      { ...entry, action: 'key.created' },
    ]);
  });
});
