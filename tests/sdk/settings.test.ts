import { createSvc, type Svc, SvcApiError, SvcInputError } from '@svc/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AnyService, TestService } from '../support/service.ts';

let service: AnyService;
let baseUrl: string;
let requests = 0;
const counting = (input: string, init?: RequestInit) => {
  requests += 1;
  return fetch(input, init);
};

beforeAll(async () => {
  service = await TestService.shared();
  baseUrl = service.server.credentials.baseUrl;
});
afterAll(() => service.stop());

async function newSvc(): Promise<Svc> {
  const { publicKey, secretKey } = (await service.organization()).keys;
  return createSvc({ baseUrl, publicKey, secretKey, fetch: counting });
}

const refusal = async (call: Promise<unknown>) => {
  const error: unknown = await call.catch((thrown: unknown) => thrown);
  expect([SvcApiError, SvcInputError].some((kind) => error instanceof kind)).toBe(true);
  return (error as SvcApiError | SvcInputError).code;
};

describe('the settings of the library', () => {
  it('rotate keys: the new ones work, and the old ones are revoked with them', async () => {
    const old = await newSvc();
    const { key: publicKey } = await old.settings.createApiKey({ kind: 'public' });
    const { secretKey } = await old.settings.createApiKey({ kind: 'secret' });
    const fresh = createSvc({ baseUrl, publicKey, ...(secretKey !== null && { secretKey }) });
    const keys = [];
    for await (const key of fresh.settings.apiKeys({ pageSize: 3 })) keys.push(key);
    expect(keys).toHaveLength(4);
    expect(await refusal(old.settings.revokeApiKey({ id: keys[3]?.id ?? '' }))).toBe('key_in_use');
    for (const { id } of keys.slice(2)) expect(await fresh.settings.revokeApiKey({ id })).toEqual({ success: true });
    expect(await refusal(old.settings.getSettings())).toBe('invalid_api_key');
    const actions = (await fresh.settings.listAuditLog()).items.map(({ action }) => action);
    expect(actions).toEqual(['key.revoked', 'key.revoked', 'key.created', 'key.created']);
  });

  it('change the passed fields and keep the rest', async () => {
    const svc = await newSvc();
    await svc.settings.updateSettings({ jwtIssuer: 'https://id.example', giftsNeedSecretKey: true });
    await svc.settings.updateSettings({ jwtIssuer: null, jwtAudience: undefined });
    expect(await svc.settings.getSettings()).toMatchObject({ jwtIssuer: null, giftsNeedSecretKey: true });
  });

  it('send nothing if nothing would change', async () => {
    const svc = await newSvc();
    requests = 0;
    expect(await refusal(svc.settings.updateSettings({}))).toBe('invalid_input');
    expect(await refusal(svc.settings.updateOwnSku({ id: 'pase-recarga', name: undefined }))).toBe('invalid_input');
    expect(await refusal(svc.webhooks.updateWebhook({ id: 'whk_1' }))).toBe('invalid_input');
    expect(requests).toBe(0);
  });

  it('decide what the organisation offers', async () => {
    const svc = await newSvc();
    await svc.settings.updateOwnSku({ id: 'pase-recarga', isOffered: false });
    expect(await refusal(svc.getSku({ id: 'pase-recarga' }))).toBe('sku_not_found');
    const [hidden] = (await svc.settings.listOfferedSkus({ limit: 1 })).items;
    expect(hidden).toMatchObject({ id: 'pase-recarga', isOwn: false, isOffered: false });
  });

  it('need the secret key', async () => {
    const { publicKey } = service.server.credentials;
    const app = createSvc({ baseUrl, publicKey, bearerToken: 'a.b.c', fetch: counting });
    requests = 0;
    expect(await refusal(app.settings.getSettings())).toBe('secret_key_required');
    expect(await refusal(app.webhooks.listWebhooks())).toBe('secret_key_required');
    expect(requests).toBe(0);
  });
});
