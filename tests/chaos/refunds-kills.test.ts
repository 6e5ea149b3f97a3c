import { once } from 'node:events';
import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditRelays, paidByManager } from '../support/audit.ts';
import type { Reply } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { PAID_RAW } from '../support/examples.ts';
import { openDatabaseProxy, random, seedCount, spread } from '../support/faults.ts';
import { PurchaseFixture } from '../support/purchases.ts';
import { TestService } from '../support/service.ts';
import { USDC } from '../support/starknet-client.ts';

const KILLS = seedCount(4);
const EACH_MS = 30_000;
const SETTLE_MS = 180_000;
/** A refund ends within seconds; an idle victim still polls for jobs, and is killed at that. */
const WAIT_LIMIT_MS = 60_000;

let service: TestService;
let fixture: PurchaseFixture;
let payment: string;
beforeAll(async () => {
  // Without jobs, so that victims do all work.
  service = await TestService.hosted({ SVC_ROLE: 'api' });
  fixture = await PurchaseFixture.start(service);
  payment = await fixture.pay();
}, 300_000);
afterAll(() => service.stop());

interface Row {
  readonly id: string;
  readonly refund: string;
  readonly hash: string | null;
}

const rows = (): Promise<Row[]> =>
  service.database.db.rows<Row>(sql`
    select id, refund_status as refund, refund_transaction_hash as hash from transactions
     where type = 'SKU_PURCHASE' order by id`);
const refundOf = async (id: string) => (await rows()).find((row) => row.id === id)?.refund;

function due(): Promise<string> {
  const buyer = BigInt(fixture.buyer.address);
  const place = { paymentAddress: BigInt(fixture.paymentAddress), tokenAddress: BigInt(USDC), paid: PAID_RAW };
  return service.purchase({ status: 'FAILED', buyer, hash: payment, ...place });
}

/** Chunks sent to the database from the request to the refund, those of the sandbox included. */
async function countSteps(): Promise<number> {
  const proxy = await openDatabaseProxy(service.databaseUrl);
  const whole = await service.anotherHosted({ DATABASE_URL: proxy.url, SVC_ROLE: 'all' });
  const id = await due();
  const before = proxy.sent();
  const { status, text } = await fixture.refund(id, {}, whole);
  expect([status, text]).toEqual([200, expect.any(String)]);
  const end = await eventually(
    () => refundOf(id),
    (refund) => refund === 'REFUNDED',
    WAIT_LIMIT_MS,
  );
  expect(end).toBe('REFUNDED');
  const steps = proxy.sent() - before;
  await whole.stop();
  proxy.close();
  return steps;
}

interface Killed {
  readonly id: string;
  readonly reply: Reply | undefined;
  /** Whether the organisation repeats its request at another process. */
  readonly asksAgain: boolean;
}

async function killOne(seed: number, steps: number): Promise<Killed> {
  const id = await due();
  const proxy = await openDatabaseProxy(service.databaseUrl);
  const victim = await service.another({ DATABASE_URL: proxy.url, SVC_ROLE: 'all' });
  const died = once(victim.process, 'exit', { signal: AbortSignal.timeout(WAIT_LIMIT_MS) });
  const places = Array.from({ length: steps }, (_, step) => step + 1);
  const when = random(seed + KILLS)() < 0.5 ? 'before' : 'after';
  proxy.cutAfter(spread(seed, KILLS, places), when, () => victim.process.kill('SIGKILL'));
  const reply = await fixture.refund(id, {}, victim).catch(() => undefined);
  await died;
  proxy.close();
  return { id, reply, asksAgain: random(seed)() < 0.5 };
}

describe('a process that is killed while it gives a payment back', () => {
  it(
    `leaves it given back once, or due: ${KILLS} seeds`,
    async () => {
      const steps = await countSteps();
      const killed: Killed[] = [];
      for (let seed = 0; seed < KILLS; seed += 1) killed.push(await killOne(seed, steps));
      const heir = await service.anotherHosted({ SVC_ROLE: 'all' });
      for (const { id, asksAgain } of killed)
        if (asksAgain) expect((await fixture.refund(id, {}, heir)).status).toBe(200);
      const open = async () => (await rows()).filter(({ refund }) => refund === 'REFUNDING');
      expect(await eventually(open, (left) => left.length === 0, SETTLE_MS)).toEqual([]);
      for (const { id, reply, asksAgain } of killed) {
        const refund = await refundOf(id);
        const isMade = reply !== undefined || asksAgain;
        expect({ id, refund }).toEqual({ id, refund: isMade ? 'REFUNDED' : expect.stringMatching(/^(DUE|REFUNDED)$/) });
      }
      const refunded = (await rows()).filter(({ refund }) => refund === 'REFUNDED').map(({ hash }) => hash);
      const paid = await paidByManager(fixture.sandbox);
      expect(paid.every(({ to }) => to === BigInt(fixture.buyer.address))).toBe(true);
      expect(paid.map(({ hash }) => hash).toSorted()).toEqual(refunded.toSorted());
      await auditRelays(service.database.db, fixture.sandbox);
    },
    SETTLE_MS + KILLS * EACH_MS,
  );
});
