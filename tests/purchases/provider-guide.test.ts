import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { symlink } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { freePort } from '../../packages/sandbox/src/worker/node-thread.ts';
import { trusted } from '../../packages/server/src/outbound/address-guard.ts';
import {
  createHttpProvider,
  type Provider,
  UnknownOutcomeError,
} from '../../packages/server/src/purchases/provider.ts';
import { endOf, storePurchase } from '../../packages/server/testing/stored-purchases.ts';
import { abortRequest, floodRequest, send } from '../support/client.ts';
import { placeOrder } from '../support/purchases.ts';
import { TestService } from '../support/service.ts';

const POLL = { timeout: 60_000, interval: 50 };
const MEBIBYTE = 2 ** 20;
const guide = readFileSync(path.resolve(import.meta.dirname, '../../docs/fulfilment.md'), 'utf8');
const [, example = ''] = /```js\n([\s\S]*?)```/.exec(guide) ?? [];
const key = randomBytes(32);
const never = new AbortController().signal;

let fulfilment: ChildProcess;
let service: TestService;
let url: string;
let provider: Provider;

beforeAll(async () => {
  const port = await freePort();
  const FULFILMENT_SECRET = `whsec_${key.toString('base64')}`;
  url = `http://127.0.0.1:${port}/orders`;
  provider = createHttpProvider({ url, secret: key }, { guard: trusted() });
  service = await TestService.hosted({ FULFILMENT_URL: url, FULFILMENT_SECRET });
  fulfilment = await startExample({ PORT: String(port), FULFILMENT_SECRET });
});
afterAll(async () => {
  fulfilment.kill();
  await service.stop();
});

/** In a process of its own, in a folder with the keys where `npm start` leaves them; ready when it listens. */
async function startExample(env: Record<string, string>): Promise<ChildProcess> {
  const { dataDir } = service.server;
  await symlink(dataDir, path.join(dataDir, '.svc'));
  const child = spawn(process.execPath, ['--input-type=module', '-e', example], {
    cwd: dataDir,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise<void>((resolve, reject) => {
    child.stdout?.once('data', () => resolve());
    child.once('exit', (code) => reject(new Error(`the example ended with ${code}`)));
  });
  return child;
}

const production = (reference: string) =>
  storePurchase(service.database.db, { status: 'PROCESSING', environment: 'production', sku: { reference } });

describe("the guide's fulfilment service, as it stands", () => {
  it('delivers what was bought, and tells svc by itself', async () => {
    const { db } = service.database;
    const id = await placeOrder(db, { environment: 'production', sku: { reference: '5512345678' } });
    await vi.waitFor(async () => expect(await endOf(db, id)).toMatchObject({ status: 'SUCCESS' }), POLL);
    // A lookup comes after half a minute, so this was the callback.
    expect(await endOf(db, id)).toMatchObject({ fileNumber: `F-${id.slice(-8)}`, refund: null });
    expect(await provider.lookUp(id, never)).toEqual({ state: 'completed', fileNumber: `F-${id.slice(-8)}` });
  });

  it('says why it does not, and the payment is due for refund', async () => {
    const { db } = service.database;
    const id = await placeOrder(db, { environment: 'production', sku: { reference: '5512345679' } });
    await vi.waitFor(async () => expect(await endOf(db, id)).toMatchObject({ status: 'FAILED' }), POLL);
    expect(await endOf(db, id)).toMatchObject({ reason: 'The number does not exist', refund: 'DUE' });
  });

  it('answers a repetition with the result, and another order of the same id not at all', async () => {
    const order = {
      orderId: await production('5512345678'),
      environment: 'production',
      organizationId: 'org_1',
      catalogue: 'deployment',
      providerId: 'telcel',
      skuId: 'telcel-50',
      reference: '5512345678',
      amount: '50',
      currency: 'MXN',
    } as const;
    expect(await provider.lookUp(order.orderId, never)).toEqual({ state: 'unknown' });
    expect(await provider.order(order, never)).toEqual({ state: 'accepted' });
    const completed = { state: 'completed', fileNumber: `F-${order.orderId.slice(-8)}` };
    await vi.waitFor(async () => expect(await provider.order(order, never)).toEqual(completed), POLL);
    await expect(provider.order({ ...order, amount: '100' }, never)).rejects.toThrow(UnknownOutcomeError);
  });

  it('takes nothing that is not signed with the secret', async () => {
    const stranger = createHttpProvider({ url, secret: randomBytes(32) }, { guard: trusted() });
    await expect(stranger.lookUp('txn_1', never)).rejects.toThrow('HTTP 401');
    expect((await send(url, { method: 'POST', body: {} })).status).toBe(401);
  });

  it('outlives requests that break off or never end', async () => {
    for (let times = 0; times < 3; times++) await abortRequest(url);
    expect(await floodRequest(url, MEBIBYTE, 64)).toBeLessThan(64 * MEBIBYTE);
    expect((await send(url, { method: 'POST', body: {} })).status).toBe(401);
    expect([fulfilment.exitCode, fulfilment.signalCode]).toEqual([null, null]);
  });
});

it('results are taken at the address that the guide names, which is no part of the interface for apps', async () => {
  const { origin } = service.server;
  expect(guide).toContain('POST {svc}/v1/provider/orders/{orderId}/result');
  const refused = await send(`${origin}/v1/provider/orders/txn_1/result`, { method: 'POST', body: {} });
  expect([refused.status, refused.body]).toEqual([401, { error: 'invalid_signature', message: expect.any(String) }]);
  expect((await send(`${origin}/v1/openapi.json`)).text).not.toContain('/provider/');
});
