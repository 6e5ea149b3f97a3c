import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type App, Owner } from '../support/app.ts';
import { type Send, send, userToken } from '../support/client.ts';
import { prepareExampleData } from '../support/examples.ts';
import { logLines } from '../support/server.ts';
import { TestService } from '../support/service.ts';

let service: TestService;
/** Everything that must not be found in what the process printed. */
const secrets = new Map<string, string>();
const CODE = 'GIFTCODE7XQ';
const USER = 'maria.lopez-4711';
const IDEMPOTENCY_KEY = 'order-8d1f-secret';
const REFERENCE = 'REFERENCE-OF-MARIA';
const CIPHERTEXT = 'CIPHERTEXT-OF-MARIA';
const LOG_POLL = { timeout: 10_000, interval: 10 };

beforeAll(async () => {
  service = await TestService.hosted({ LOG_LEVEL: 'trace' });
  const { server } = service;
  const { baseUrl } = server.credentials;
  const organization = await service.organization();
  await service.changeSettings(organization.id, { jwks_url: 'sandbox' });
  const { keys } = organization;
  const token = await userToken(server, USER);
  const wrongSecret = `sk_dev_${'Zq7'.repeat(12)}`;
  const forged = `${token.slice(0, -10)}AAAAAAAAAA`;
  for (const [name, value] of Object.entries({ ...keys.headers, token, wrongSecret, forged })) {
    if (name !== 'x-api-key') secrets.set(name, value.replace('Bearer ', ''));
  }
  const bearer = (value: string) => ({ 'x-api-key': keys.publicKey, authorization: `Bearer ${value}` });
  const post = (body: unknown): Send => ({ method: 'POST', body });
  const requests: [string, Send][] = [
    ['/organization', { headers: keys.headers }],
    ['/skus', { headers: bearer(token) }],
    ['/skus', { headers: bearer(wrongSecret) }],
    ['/skus', { headers: bearer(forged) }],
    ['/skus', { headers: { 'x-api-key': wrongSecret, authorization: keys.secretKey } }],
    [`/svc-wallets/by-user?externalUserId=${USER}`, { headers: keys.headers }],
    [`/gifts/claim/${CODE}`, {}],
    [`/gifts/claim/${CODE}%ff`, {}],
    [`/gifts/claim/${CODE}/nothing`, {}],
    [`/gifts/claim/${CODE}/${'x'.repeat(2_000)}`, {}],
    [`/gifts/claim/${CODE.repeat(20)}`, {}],
    [`/gifts/claim/${CODE}/status/1`, {}],
    [`/gifts/claim/${CODE}/redeem`, post({ walletAddress: USER, chain: 'starknet' })],
    [`/gifts/claim/${CODE}/redeem`, { method: 'POST', raw: `{"${CODE}` }],
    [
      '/skus/pase-recarga/check-reference',
      { ...post({ reference: REFERENCE }), headers: { ...keys.headers, 'idempotency-key': IDEMPOTENCY_KEY } },
    ],
    ['/skus/pase-recarga/check-reference', { ...post([REFERENCE]), headers: keys.headers }],
  ];
  for (const [path, options] of requests) await send(baseUrl + path, options);
  await useWallets(organization);
  for (const path of [`/${CODE}`, `/docs?${CODE}`, `/claim/${CODE}`]) await send(server.origin + path);
  // A request's line is written after its answer.
  await send(`${server.origin}/healthz`, { headers: { 'x-request-id': 'the-last-one' } });
  await vi.waitFor(() => expect(server.output()).toContain('the-last-one'), LOG_POLL);
});
afterAll(() => service.stop());

/** Wallets are created and used, and the requests of one are refused. */
async function useWallets(app: App): Promise<void> {
  await prepareExampleData(service, { app, user: USER });
  const creation = { ...(await app.creation(new Owner(), USER)), encryptedPrivateKey: CIPHERTEXT };
  for (const chain of ['BASE', 'nowhere', 'STARKNET']) await app.post('/svc-wallets', { ...creation, chain });
  const change = { externalUserId: USER, newEncryptedPrivateKey: CIPHERTEXT };
  await app.patch('/svc-wallets/update-encryption-details', change);
}

describe('the log', () => {
  it('holds neither a key nor a token, right or wrong', () => {
    for (const [name, value] of secrets) expect(service.server.output(), name).not.toContain(value);
  });

  it('holds no part of a token', () => {
    for (const part of secrets.get('token')?.split('.') ?? [])
      expect(service.server.output()).not.toContain(part.slice(0, -10));
  });

  it('holds no gift code, no user, no reference, no idempotency key and nothing of a private key', () => {
    const texts = [CODE, USER, REFERENCE, IDEMPOTENCY_KEY, CIPHERTEXT];
    for (const text of texts) expect(service.server.output()).not.toContain(text);
  });

  it('never shows the development secret: it is no terminal', () => {
    const output = service.server.output();
    const { secretKey } = service.server.credentials;
    expect(output).not.toContain(secretKey);
  });

  it('names the route, the status and the request of each answer', () => {
    const lines = logLines(service.server.output());
    const claim = lines.filter((line) => line.route === '/v1/gifts/claim/:code');
    expect(claim.length).toBeGreaterThan(0);
    for (const line of claim) expect(line).toMatchObject({ method: 'GET', msg: 'request', reqId: expect.any(String) });
    expect(lines).toContainEqual(expect.objectContaining({ reqId: 'the-last-one', route: '/healthz', status: 200 }));
  });

  it('has no error in it', () => {
    expect(service.errors()).toEqual([]);
  });
});
