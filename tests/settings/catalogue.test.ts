import { endpoints } from '@svc/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bodyOf, type Organization, ownSkuBody } from '../support/app.ts';
import { expectAnswer, expectError } from '../support/assertions.ts';
import { send, userToken } from '../support/client.ts';
import { type AnyService, TestService } from '../support/service.ts';

let service: AnyService;
let baseUrl: string;
let us: Organization;
let user: Record<string, string>;

beforeAll(async () => {
  service = await TestService.shared();
  baseUrl = service.server.credentials.baseUrl;
  us = await service.organization();
  await us.patch('/organization/settings', { jwksUrl: 'sandbox' });
  const token = await userToken(service.server, 'ana');
  user = { 'x-api-key': us.keys.publicKey, authorization: `Bearer ${token}` };
});
afterAll(() => service.stop());

interface Page {
  readonly data: { readonly id: string; readonly isOffered?: boolean; readonly isOwn?: boolean }[];
  readonly total: number;
}
const seen = async (path: string, headers = user) => send(baseUrl + path, { headers });
const list = async (headers = user) => bodyOf<Page>(await seen('/skus?limit=1', headers), 200);
const DEPLOYMENT = 'pase-recarga';

describe("an organisation's own services", () => {
  it("are sold to its users beside the deployment's, in its environment alone", async () => {
    const before = await list();
    const own = ownSkuBody();
    const made = await us.post('/organization/skus', own);
    expectAnswer(made, endpoints.createOwnSku);
    expect(made.body).toMatchObject({ ...own, isOwn: true, isOffered: true });

    const last = bodyOf<Page>(await seen(`/skus?limit=1&offset=${before.total}`), 200);
    expect(last).toMatchObject({ total: before.total + 1, data: [{ id: own.id }] });
    const read = await seen(`/skus/${own.id}`);
    expectAnswer(read, endpoints.getSku);
    const check = { method: 'POST', headers: user, body: { reference: '5512345678' } };
    expect((await send(`${baseUrl}/skus/${own.id}/check-reference`, check)).body).toEqual({ valid: true });

    const others = await service.organization();
    const missing = await seen('/skus/nothing', others.keys.headers);
    const theirs = await seen(`/skus/${own.id}`, others.keys.headers);
    expect([theirs.status, theirs.text]).toEqual([missing.status, missing.text]);
    expect((await list(others.keys.headers)).total).toBe(before.total);
    for (const reply of [
      await others.patch(`/organization/skus/${own.id}`, { name: 'Otra' }),
      await others.delete(`/organization/skus/${own.id}`),
    ]) {
      expect([reply.status, reply.text]).toEqual([missing.status, missing.text]);
    }
    expect((await us.delete(`/organization/skus/${own.id}`)).body).toEqual({ success: true });
    expect((await list()).total).toBe(before.total);
  });

  it("and the deployment's can be taken out of sight and brought back", async () => {
    const { total } = await list();
    const hidden = await us.patch(`/organization/skus/${DEPLOYMENT}`, { isOffered: false });
    expectAnswer(hidden, endpoints.updateOwnSku);
    expectError(await seen(`/skus/${DEPLOYMENT}`), 404, 'sku_not_found');
    const check = { method: 'POST', headers: user, body: { reference: 'IMDM28417936' } };
    expectError(await send(`${baseUrl}/skus/${DEPLOYMENT}/check-reference`, check), 404, 'sku_not_found');
    expect((await list()).total).toBe(total - 1);
    const managed = await us.get('/organization/skus?limit=1');
    expectAnswer(managed, endpoints.listOfferedSkus);
    expect((managed.body as Page).total).toBe(total);
    expect((managed.body as Page).data[0]).toMatchObject({ id: DEPLOYMENT, isOwn: false, isOffered: false });
    await us.patch(`/organization/skus/${DEPLOYMENT}`, { isOffered: true });
    expect((await seen(`/skus/${DEPLOYMENT}`)).status).toBe(200);
  });

  it('are refused with the field and the reason when they could not be sold', async () => {
    const refused = async (change: object, code: 'invalid_sku' | 'sku_id_taken' | 'invalid_request') => {
      const reply = await us.post('/organization/skus', { ...ownSkuBody(), ...change });
      expectError(reply, 400, code);
      return (reply.body as { message: string }).message;
    };
    expect(await refused({ referenceRegexValidation: '([' }, 'invalid_sku')).toMatch(/^referenceRegexValidation: /);
    expect(await refused({ fixedAmount: 1.234 }, 'invalid_sku')).toMatch(/^fixedAmount/);
    expect(await refused({ logoUrl: 'http://a.example/x.png' }, 'invalid_sku')).toMatch(/^logoUrl/);
    expect(await refused({ category: 'NOTHING' }, 'invalid_request')).toMatch(/^body\.category/);
    expect(await refused({ id: '12345' }, 'invalid_request')).toMatch(/^body\.id/);
    await refused({ id: DEPLOYMENT }, 'sku_id_taken');
    expectError(await us.patch(`/organization/skus/${DEPLOYMENT}`, { name: 'Ours' }), 400, 'invalid_request');
  });
});
