import {
  allEndpoints,
  type DoctorReport,
  type Endpoint,
  exampleOf,
  endpoints as named,
  type Schema,
} from '@svc/protocol';
import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectAnswer, expectError } from './support/assertions.ts';
import { type Reply, send } from './support/client.ts';
import { type SignedIn, signIn } from './support/members.ts';
import { failedJob, stuckPurchase, stuckRedeem, unknownNonce } from './support/operator.ts';
import { type AnyService, OPERATOR_TOKEN, TestService } from './support/service.ts';

let service: AnyService;
let v1: string;
let operator: SignedIn;
beforeAll(async () => {
  service = await TestService.shared();
  v1 = service.server.credentials.baseUrl;
  operator = await signIn(service, 'VIEWER', { isOperator: true });
});
afterAll(() => service.stop());

const ask = (path: string, method = 'GET', body?: object, headers: object = operator.headers): Promise<Reply> =>
  send(`${v1}/operator${path}`, { method, headers: { ...headers }, ...(body && { body }) });
const data = <T>({ body }: Reply): T => (body as { data: T }).data;
const audit = (target: string) =>
  service.db.rows<{ organization_id: string; action: string; actor: string }>(sql`
    select organization_id, action, actor from audit_log where target = ${target} order by id`);

const endpoints = allEndpoints.filter(({ access }) => access === 'operator');
const requestOf = ({ method, path, body }: Endpoint, headers: object) =>
  send(v1 + path.replace('{environment}', 'production').replace(/\{\w+\}/g, '1'), {
    method,
    headers: { ...headers },
    ...(body && { body: exampleOf(body as Schema, {}) as object }),
  });

describe('an endpoint for operators', () => {
  it('exists for every page of theirs', () => {
    expect(endpoints.length).toBeGreaterThan(20);
  });

  it.each(endpoints.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const))(
    'refuses owners who are none, keys, and requests without credentials: %s',
    async (_, endpoint) => {
      const owner = await signIn(service, 'OWNER');
      expectError(await requestOf(endpoint, owner.headers), 401, 'operator_required');
      expectError(await requestOf(endpoint, service.app.headers), 401, 'operator_required');
      expectError(await requestOf(endpoint, {}), 401, 'sign_in_required');
      const wrong = { authorization: `Bearer op_${'x'.repeat(40)}` };
      expectError(await requestOf(endpoint, wrong), 401, 'invalid_token');
    },
  );

  it('is open to a script with the token of the deployment, which opens nothing else', async () => {
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
    const name = `Tienda ${crypto.randomUUID()}`;
    const created = await ask('/organizations', 'POST', { name }, headers);
    expect(created.status).toBe(201);
    const { id } = created.body as { id: string };
    expect(await audit(id)).toMatchObject([{ actor: 'operator' }, { actor: 'operator' }]);
    expectError(await send(`${v1}/organization`, { headers }), 401, 'missing_credentials');
  });
});

describe('organisations', () => {
  it('are created with an invited owner, found by name, id and member, and given keys that work until revoked', async () => {
    const name = `Tienda ${crypto.randomUUID()}`;
    const email = `ana-${crypto.randomUUID()}@tienda.example`;
    const created = await ask('/organizations', 'POST', { name, ownerEmail: email });
    expect(created.status).toBe(201);
    const { id } = created.body as { id: string };
    expect(created.body).toMatchObject({ name, members: 0, people: [{ email, role: 'OWNER', joinedAt: null }] });
    for (const search of [name, id, email]) {
      const found = await ask(`/organizations?search=${encodeURIComponent(search)}`);
      expect(data<{ id: string }[]>(found).map((row) => row.id)).toEqual([id]);
    }
    expect(data(await ask('/organizations?search=%25'))).toEqual([]);

    const keys = (await ask(`/organizations/${id}/production/keys`, 'POST')).body as Record<string, string>;
    const headers = { 'x-api-key': `${keys.publicKey}`, authorization: `Bearer ${keys.secretKey}` };
    const read = () => send(`${v1}/organization`, { headers });
    expect((await read()).body).toMatchObject({ id, environment: 'production' });
    const detail = (await ask(`/organizations/${id}`)).body as { keys: { id: string; kind: string }[] };
    expect(JSON.stringify(detail)).not.toContain(keys.secretKey);
    const secret = detail.keys.find(({ kind }) => kind === 'secret')?.id ?? '';
    const other = service.server.credentials.organizationId;
    expectError(await ask(`/organizations/${other}/keys/${secret}`, 'DELETE'), 404, 'key_not_found');
    expect((await ask(`/organizations/${id}/keys/${secret}`, 'DELETE')).status).toBe(200);
    expectError(await read(), 401, 'invalid_api_key');
    expect(await audit(secret)).toMatchObject([
      { organization_id: id, action: 'key.created', actor: `operator:${operator.email}` },
      { organization_id: id, action: 'key.revoked', actor: `operator:${operator.email}` },
    ]);
  });

  it('are shown page by page, each once', async () => {
    const names = [1, 2, 3].map((each) => `Hoja ${crypto.randomUUID()} ${each}`);
    const part = names[0]?.slice(0, 12) ?? '';
    for (const name of names) await ask('/organizations', 'POST', { name: name.replace(/^.{12}/, part) });
    const first = await ask(`/organizations?limit=2&search=${encodeURIComponent(part)}`);
    const { nextCursor } = first.body as { nextCursor: string };
    const second = await ask(`/organizations?limit=2&search=${encodeURIComponent(part)}&cursor=${nextCursor}`);
    const ids = [...data<{ id: string }[]>(first), ...data<{ id: string }[]>(second)].map(({ id }) => id);
    expect([ids.length, new Set(ids).size, (second.body as { nextCursor: null }).nextCursor]).toEqual([3, 3, null]);
  });

  it('get the gas that the operator allows, and a missing one is a 404', async () => {
    const { organizationId } = service.server.credentials;
    const path = `/organizations/${organizationId}/production/sponsorship`;
    expect((await ask(path, 'PATCH', { maxDailyStrk: '2000' })).body).toMatchObject({ maxDailyStrk: '2000' });
    expectError(await ask(path, 'PATCH', { maxDailyStrk: 'much' }), 400, 'invalid_request');
    expect((await ask(path)).body).toMatchObject({ maxDailyStrk: '2000', dailyStrk: '2000' });
    for (const [url, method] of [
      ['/organizations/org_none', 'GET'],
      ['/organizations/org_none/production/keys', 'POST'],
      ['/organizations/org_none/production/sponsorship', 'GET'],
    ] as const) {
      expectError(await ask(url, method), 404, 'organization_not_found');
    }
  });
});

describe('what is stuck', () => {
  it('is listed, and a purchase is completed or failed by the operator’s word, once', async () => {
    const [delivered, lost] = [await stuckPurchase(service), await stuckPurchase(service)];
    const listed = async () =>
      ((await ask('/stuck')).body as { purchases: { id: string }[] }).purchases.map(({ id }) => id);
    expect(await listed()).toEqual(expect.arrayContaining([delivered, lost]));
    const done = await ask(`/purchases/${delivered}/complete`, 'POST', { fileNumber: 'F-7' });
    expect(done).toMatchObject({ status: 200, body: { id: delivered, status: 'SUCCESS' } });
    expectError(await ask(`/purchases/${delivered}/fail`, 'POST', { reason: 'late' }), 400, 'purchase_not_endable');
    const failed = await ask(`/purchases/${lost}/fail`, 'POST', { reason: 'not delivered' });
    expect(failed).toMatchObject({ status: 200, body: { status: 'FAILED' } });
    expect(await listed()).not.toEqual(expect.arrayContaining([delivered]));
    expect(await audit(delivered)).toMatchObject([
      { action: 'sku-purchase.completed', actor: `operator:${operator.email}` },
    ]);
    expectError(await ask('/purchases/txn_none/cancel', 'POST'), 404, 'purchase_not_found');
  });

  it('a purchase without its payment is cancelled', async () => {
    const id = await stuckPurchase(service, 'PENDING');
    expectError(await ask(`/purchases/${id}/complete`, 'POST', { fileNumber: 'F-1' }), 400, 'purchase_not_endable');
    expect(await ask(`/purchases/${id}/cancel`, 'POST')).toMatchObject({ status: 200, body: { status: 'CANCELLED' } });
  });

  it('a redeem that was burned is resumed, once, and is in the log of its organisation', async () => {
    const id = await stuckRedeem(service);
    const { redeems } = (await ask('/stuck')).body as { redeems: { id: string }[] };
    expect(redeems).toEqual(expect.arrayContaining([expect.objectContaining({ id, amountUsd: 5, status: 'FAILED' })]));
    const resumed = await ask(`/redeems/${id}/resume`, 'POST');
    expect(resumed).toMatchObject({ status: 200, body: { id, status: 'BRIDGING' } });
    expectError(await ask(`/redeems/${id}/resume`, 'POST'), 400, 'redeem_not_resumable');
    expect(await audit(id)).toEqual([
      {
        organization_id: service.server.credentials.organizationId,
        action: 'gift-redeem.resumed',
        actor: `operator:${operator.email}`,
      },
    ]);
    expectError(await ask('/redeems/rdm_none/resume', 'POST'), 404, 'redeem_not_found');
  });
});

describe('the accounts', () => {
  it('are shown as the chain has them, and an unknown transaction until it is accepted', async () => {
    await service.wallet();
    const { account, nonce } = await unknownNonce(service);
    const shown = data<{ address: string; role: string; state: string; chainNonce: string }[]>(await ask('/accounts'));
    expect(shown.map(({ role }) => role)).toEqual(expect.arrayContaining(['MANAGER', 'RELAYER', 'PAYMENT']));
    expect(shown.find(({ address }) => address === account)).toMatchObject({
      state: 'UNRECONCILED',
      unreconciled: 1,
      strk: expect.stringMatching(/^\d/),
      chainNonce: expect.stringMatching(/^\d+$/),
    });
    const open = await ask('/reconcile');
    expect(data(open)).toEqual(expect.arrayContaining([expect.objectContaining({ account, nonce, state: 'OPEN' })]));
    const accept = (body: object) => ask('/reconcile/accept', 'POST', body);
    expectError(await accept({ account, nonce, reason: ' ' }), 400, 'invalid_request');
    const accepted = await accept({ account, nonce, reason: 'Sent by hand' });
    expect(accepted).toMatchObject({ status: 200, body: { state: 'ACCEPTED', reason: 'Sent by hand' } });
    expectError(await accept({ account, nonce, reason: 'again' }), 400, 'not_reconcilable');
    const log = data(await ask('/audit-log?limit=100'));
    expect(log).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ action: 'account.transaction-accepted', actor: `operator:${operator.email}` }),
      ]),
    );
    expectError(await ask('/reconcile/match', 'POST', { hash: '0x1', ids: ['rdm_1'] }), 400, 'not_reconcilable');
    expect((await ask('/relays')).status).toBe(200);
  });
});

describe('the deployment', () => {
  it('tells its health, and what needs the operator', async () => {
    await stuckPurchase(service);
    const { body } = await ask('/health');
    expect(body).toMatchObject({ status: 'ok', version: expect.stringMatching(/^\d/), role: 'all' });
    const { checks, attention, disk } = body as {
      checks: { name: string; level: string }[];
      attention: { stuckPurchases: number };
      disk: { freeBytes: number }[];
    };
    expect(checks.find(({ name }) => name === 'database')).toMatchObject({ word: 'ok', level: 'ok' });
    expect(attention.stuckPurchases).toBeGreaterThan(0);
    expect(disk[0]?.freeBytes).toBeGreaterThan(0);
  });

  it('examines itself and its surroundings, and says what to do about each thing that is not well', async () => {
    const reply = await ask('/doctor');
    expectAnswer(reply, named.getDoctorReport);
    const { checks } = reply.body as DoctorReport;
    const names = new Set(checks.map(({ name }) => name));
    for (const name of [
      'node',
      'class',
      'treasuryClass',
      'deployed',
      'disk',
      'proxy',
      'tokens',
      'database role',
      'migrations',
      'clock',
    ]) {
      expect(names).toContain(name);
    }
    for (const name of ['manager account', 'relayer account', 'payment account', 'relayer key', 'webhooks']) {
      expect(names).toContain(name);
    }
    for (const name of ['mail', 'bridge', 'fulfilment', 'public address']) {
      expect(checks.find((check) => check.name === name)).toMatchObject({ state: 'ok', fix: null });
    }
    expect(checks.filter(({ state, fix }) => (state === 'ok') !== (fix === null))).toEqual([]);
  });

  it('runs a failed job again, once', async () => {
    const id = await failedJob(service);
    const { failed } = (await ask('/jobs')).body as { failed: { id: string }[] };
    expect(failed.find((job) => job.id === id)).toMatchObject({ lastError: 'connect ECONNREFUSED', attempts: 3 });
    expect((await ask(`/jobs/${id}/retry`, 'POST')).status).toBe(200);
    expectError(await ask(`/jobs/${id}/retry`, 'POST'), 404, 'job_not_found');
    expect(await audit(id)).toMatchObject([{ organization_id: 'deployment', action: 'job.retried' }]);
  });
});
