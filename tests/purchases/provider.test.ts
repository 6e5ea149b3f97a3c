import { createServer } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { endOf } from '../../packages/server/testing/stored-purchases.ts';
import { send } from '../support/client.ts';
import { hurry } from '../support/jobs.ts';
import { placeOrder } from '../support/purchases.ts';
import { errorLines, type RunningServer } from '../support/server.ts';
import { TestService } from '../support/service.ts';

/** A failed job is due again in two seconds; after a kill it is taken over some seconds later. */
const POLL = { timeout: 60_000, interval: 50 };
const PROCESSES_TIMEOUT_MS = 120_000;

interface Entry {
  readonly status: string;
  readonly fileNumber?: string;
  readonly asked: number;
  readonly lookedUp: number;
  readonly delivered: number;
  readonly told: readonly number[];
}

const post = async ({ origin }: RunningServer, path: string, body: object) => {
  const reply = await send(`${origin}/sandbox/provider/${path}`, { method: 'POST', body });
  expect(reply.status, reply.text).toBe(200);
};
const ledger = async ({ origin }: RunningServer, id: string): Promise<Entry | undefined> =>
  ((await send(`${origin}/sandbox/provider/orders?orderId=${id}`)).body as { orders: Entry[] }).orders[0];
const buy = ({ database: { db } }: TestService, reference: string) => placeOrder(db, { sku: { reference } });
const until = ({ database: { db } }: TestService, id: string, status: string) =>
  vi.waitFor(async () => expect(await endOf(db, id)).toMatchObject({ status }), POLL);
/** Without the pause before the next attempt. */
const untilHurried = ({ database: { db } }: TestService, id: string, status: string) =>
  vi.waitFor(async () => {
    await hurry(db, id);
    expect(await endOf(db, id)).toMatchObject({ status });
  }, POLL);

describe('the provider of development', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.hosted();
    await post(service.server, 'settings', { slowSeconds: 0 });
  });
  afterEach(() => send(`${service.server.origin}/sandbox/provider/faults`, { method: 'DELETE' }));
  afterAll(async () => {
    expect(service.errors()).toEqual([]);
    await service.stop();
  });

  it('delivers at once, fails what ends in 0000, and tells later of what ends in 1111', async () => {
    const [quick, failing, slow] = [
      await buy(service, '5512345678'),
      await buy(service, '5512340000'),
      await buy(service, '5512341111'),
    ];
    await until(service, quick, 'SUCCESS');
    await until(service, failing, 'FAILED');
    await until(service, slow, 'SUCCESS');
    const { db } = service.database;
    const delivered = await ledger(service.server, quick);
    expect(delivered).toMatchObject({ status: 'completed', asked: 1, delivered: 1, told: [] });
    expect(await endOf(db, quick)).toMatchObject({ fileNumber: delivered?.fileNumber });
    expect(await endOf(db, failing)).toMatchObject({ reason: expect.stringContaining('0000'), refund: 'DUE' });
    expect(await ledger(service.server, failing)).toMatchObject({ asked: 1, delivered: 0 });
    expect(await ledger(service.server, slow)).toMatchObject({ asked: 1, delivered: 1, lookedUp: 0, told: [204] });
  });

  it.each([
    ['unavailable', { asked: 1 }],
    ['close', { asked: 1 }],
    ['deliver-unavailable', { asked: 1, lookedUp: 1 }],
    ['deliver-close', { asked: 1, lookedUp: 1 }],
  ])('%s: the outcome is found out, and it delivers once', async (kind, entry) => {
    await post(service.server, 'faults', { kind });
    const id = await buy(service, '5512345678');
    await untilHurried(service, id, 'SUCCESS');
    expect(await ledger(service.server, id)).toMatchObject({ ...entry, delivered: 1 });
  });

  it.each([
    ['callback-twice', '5512345678', 'SUCCESS', [204, 204]],
    ['callback-contradicting', '5512345678', 'SUCCESS', [204, 400]],
    ['callback-contradicting', '5512340000', 'FAILED', [204, 400]],
  ])('%s for %s: the first word counts', async (kind, reference, status, told) => {
    await post(service.server, 'faults', { kind });
    const id = await buy(service, reference);
    await until(service, id, status);
    await vi.waitFor(async () => expect(await ledger(service.server, id)).toMatchObject({ told }), POLL);
    expect(await endOf(service.database.db, id)).toMatchObject({ status });
  });
});

// Side by side: most of their time passes while a process stops or its jobs are taken over.
it.concurrent(
  'a slow order survives the kill of every process, is delivered once and told by the next one',
  async () => {
    const service = await TestService.start();
    try {
      await post(service.server, 'settings', { slowSeconds: 2 });
      const id = await buy(service, '5512341111');
      await vi.waitFor(
        async () => expect(await endOf(service.database.db, id)).toMatchObject({ accepted: true }),
        POLL,
      );
      await service.server.end('SIGKILL');
      expect(await endOf(service.database.db, id)).toMatchObject({ status: 'PROCESSING' });
      const next = await service.anotherHosted();
      await until(service, id, 'SUCCESS');
      await vi.waitFor(async () => expect((await ledger(next, id))?.told).toEqual([204]), POLL);
      expect(await ledger(next, id)).toMatchObject({ asked: 1, delivered: 1 });
    } finally {
      await service.stop();
    }
  },
  PROCESSES_TIMEOUT_MS,
);

it.concurrent(
  'a process stops while an order hangs, and the next one finds out that it was delivered',
  async () => {
    const service = await TestService.start();
    try {
      await post(service.server, 'faults', { kind: 'deliver-hang' });
      const id = await buy(service, '5512345678');
      await vi.waitFor(async () => expect((await ledger(service.server, id))?.delivered).toBe(1), POLL);
      expect(await service.server.end()).toBe(0);
      expect(await endOf(service.database.db, id)).toMatchObject({ status: 'PROCESSING' });
      const next = await service.anotherHosted();
      await until(service, id, 'SUCCESS');
      expect(await ledger(next, id)).toMatchObject({ asked: 1, delivered: 1 });
    } finally {
      await service.stop();
    }
  },
  PROCESSES_TIMEOUT_MS,
);

it.concurrent(
  'one process orders and another is told: jobs and requests may live apart',
  async () => {
    const service = await TestService.hosted({ SVC_ROLE: 'api' });
    try {
      const worker = await service.anotherHosted({ SVC_ROLE: 'worker' });
      await post(service.server, 'settings', { slowSeconds: 0 });
      const id = await buy(service, '5512341111');
      await until(service, id, 'SUCCESS');
      await vi.waitFor(async () => expect((await ledger(service.server, id))?.told).toEqual([204]), POLL);
      expect(await ledger(service.server, id)).toMatchObject({ asked: 1, delivered: 1, lookedUp: 0 });
      expect(errorLines(worker.output())).toEqual([]);
    } finally {
      await service.stop();
    }
  },
  PROCESSES_TIMEOUT_MS,
);

describe('a fulfilment service of the developer', () => {
  it(
    'gets the purchases of development in place of the sandbox',
    async () => {
      const orders: string[] = [];
      const provider = createServer((request, response) => {
        request.setEncoding('utf8').on('data', (text: string) => orders.push(text));
        request.on('end', () => response.end('{"status":"completed","fileNumber":"MINE-1"}'));
      });
      await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
      const address = provider.address();
      const port = typeof address === 'object' ? address?.port : 0;
      const service = await TestService.hosted({
        DEV_FULFILMENT_URL: `http://127.0.0.1:${port}/orders`,
        DEV_FULFILMENT_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
      });
      try {
        const id = await buy(service, '5512345678');
        await until(service, id, 'SUCCESS');
        expect(await endOf(service.database.db, id)).toMatchObject({ fileNumber: 'MINE-1' });
        expect(JSON.parse(orders[0] ?? '{}')).toMatchObject({ orderId: id, environment: 'development' });
        expect(await ledger(service.server, id)).toBeUndefined();
      } finally {
        await service.stop();
        provider.close();
      }
    },
    PROCESSES_TIMEOUT_MS,
  );
});
