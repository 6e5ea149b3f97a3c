import { once } from 'node:events';
import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openReceiver, type Receiver } from '../../packages/server/testing/receiver.ts';
import { App } from '../support/app.ts';
import { eventTypesOf, expectOnceEach } from '../support/audit.ts';
import type { Reply } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { openDatabaseProxy, random, seedCount, spread } from '../support/faults.ts';
import { PurchaseFixture, references } from '../support/purchases.ts';
import { TestService } from '../support/service.ts';
import { WebhookFixture } from '../support/webhooks.ts';

const KILLS = seedCount(6);
const EACH_MS = 30_000;
const SETTLE_MS = 300_000;
/** A purchase ends within seconds; an idle victim still polls for jobs, and is killed at that. */
const WAIT_LIMIT_MS = 60_000;

const ways = ['quick', 'failing', 'slow'] as const;
type Way = (typeof ways)[number];

let service: TestService;
let fixture: PurchaseFixture;
let receiver: Receiver;
beforeAll(async () => {
  // Without jobs, so that victims do all work.
  service = await TestService.hosted({ SVC_ROLE: 'api', ALLOW_LOOPBACK_URLS: 'on' });
  fixture = await PurchaseFixture.start(service);
  receiver = await openReceiver();
  await new WebhookFixture(service).create(receiver.url);
  await fixture.sandbox.ask('/provider/settings', { slowSeconds: 0 });
}, 300_000);
afterAll(async () => {
  receiver.close();
  await service.stop();
});

interface Place {
  readonly way: Way;
  readonly step: number;
  readonly when: 'before' | 'after';
}

interface Killed extends Place {
  readonly seed: number;
  readonly hash: string;
  /** Undefined when the process died first. */
  readonly reply: Reply | undefined;
  /** Whether the client repeats its request at another process. */
  readonly asksAgain: boolean;
}

const record = (server: TestService['server'], hash: string, way: Way): Promise<Reply> =>
  new App(server, fixture.app.headers).post('/sku-purchases', fixture.body(hash, references[way]));

interface Row {
  readonly id: string;
  readonly status: string;
}

const purchasesOf = (hash: string): Promise<Row[]> =>
  service.database.db.rows<Row>(sql`
    select id, status from transactions where transaction_hash = ${hash} and type = 'SKU_PURCHASE'`);

const hasEnded = ({ status }: Row) => status === 'SUCCESS' || status === 'FAILED';
const endOf = (way: Way): string => (way === 'failing' ? 'FAILED' : 'SUCCESS');
const lastEvent = (way: Way): string => (way === 'failing' ? 'sku-purchase.failed' : 'sku-purchase.completed');

/** Chunks sent to the database from the request to the last webhook, those of the sandbox included. */
async function countSteps(way: Way): Promise<number> {
  const proxy = await openDatabaseProxy(service.databaseUrl);
  const whole = await service.anotherHosted({ DATABASE_URL: proxy.url, SVC_ROLE: 'all' });
  const hash = await fixture.pay();
  const before = proxy.sent();
  expect((await record(whole, hash, way)).status).toBe(200);
  const [row] = await eventually(
    () => purchasesOf(hash),
    (rows) => rows.every(hasEnded),
    WAIT_LIMIT_MS,
  );
  expect(row?.status).toBe(endOf(way));
  const isTold = async () => eventTypesOf(receiver, row?.id ?? '').has(lastEvent(way));
  expect(await eventually(isTold, (told) => told, WAIT_LIMIT_MS)).toBe(true);
  const steps = proxy.sent() - before;
  await whole.stop();
  proxy.close();
  return steps;
}

/** Every step of every kind of purchase, before and after it. */
async function everyPlace(): Promise<Place[]> {
  const places: Place[] = [];
  for (const way of ways) {
    const steps = await countSteps(way);
    for (let step = 1; step <= steps; step += 1) {
      places.push({ way, step, when: 'before' }, { way, step, when: 'after' });
    }
  }
  return places;
}

/** Starts a process, records a purchase at it, and kills it. */
async function killOne(seed: number, place: Place): Promise<Killed> {
  const hash = await fixture.pay();
  const proxy = await openDatabaseProxy(service.databaseUrl);
  const victim = await service.another({ DATABASE_URL: proxy.url, SVC_ROLE: 'all' });
  const died = once(victim.process, 'exit', { signal: AbortSignal.timeout(WAIT_LIMIT_MS) });
  proxy.cutAfter(place.step, place.when, () => victim.process.kill('SIGKILL'));
  const reply = await record(victim, hash, place.way).catch(() => undefined);
  await died;
  proxy.close();
  return { ...place, seed, hash, reply, asksAgain: random(seed)() < 0.5 };
}

describe('a process that is killed while it records, orders, ends or tells', () => {
  it(
    `leaves a purchase that is ordered once and ends truly, or none, and its app hears of it: ${KILLS} seeds`,
    async () => {
      const places = await everyPlace();
      const killed: Killed[] = [];
      for (let seed = 0; seed < KILLS; seed += 1) killed.push(await killOne(seed, spread(seed, KILLS, places)));
      const heir = await service.anotherHosted({ SVC_ROLE: 'all' });
      for (const { asksAgain, hash, way } of killed) {
        if (asksAgain) expect((await record(heir, hash, way)).status).toBe(200);
      }
      const open = () =>
        service.database.db.rows<Row>(sql`
          select id, status from transactions where type = 'SKU_PURCHASE' and status in ('PENDING', 'PROCESSING')`);
      expect(await eventually(open, (rows) => rows.length === 0, SETTLE_MS)).toEqual([]);
      for (const one of killed) await expectTruth(one);
      await expectOnceEach(service.database.db, receiver, SETTLE_MS);
    },
    2 * SETTLE_MS + KILLS * EACH_MS,
  );
});

/** The kill is the only fault, so every recorded purchase ends as its reference says. */
async function expectTruth({ seed, way, step, when, hash, reply, asksAgain }: Killed): Promise<void> {
  const about = { seed, way, step, when, asksAgain, told: reply?.status };
  const statuses = (await purchasesOf(hash)).map(({ status }) => status);
  const isMade = asksAgain || reply !== undefined || statuses.length > 0;
  expect({ ...about, statuses }).toEqual({ ...about, statuses: isMade ? [endOf(way)] : [] });
}
