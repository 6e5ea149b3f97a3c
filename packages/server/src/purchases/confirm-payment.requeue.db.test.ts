import { sql } from '@svc/store';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FulfilmentFixture } from '../../testing/fulfilment.ts';
import { requeueStalledPurchases } from './confirm-payment.ts';
import { fulfilmentJobs, purchaseGauges } from './module.ts';
import { CONFIRM_PAYMENT_TASK, ORDER_TASK } from './purchase.ts';

let fixture: FulfilmentFixture;
beforeAll(async () => {
  fixture = await FulfilmentFixture.start();
});
beforeEach(async () => {
  await fixture.begin();
  // What earlier tests left open is nobody's any more.
  await fixture.db.run(sql`update transactions set status = 'SUCCESS' where status in ('PENDING', 'PROCESSING')`);
  await fixture.db.run(sql`
    update transactions set updated_at = now() - interval '3 days' where status = 'CANCELLED' and refund_status is null`);
});
afterAll(() => fixture.stop());

const planned = () =>
  fixture.db.rows(sql`select task, key, tenant from jobs where worker is null and failed_at is null order by task`);

describe('open purchases without a job', () => {
  it('are found, each with the job that it needs, of its organisation', async () => {
    const [pending, paid, cancelled] = [await fixture.purchase(), await fixture.paid(), await fixture.purchase()];
    await fixture.db.run(sql`update transactions set status = 'CANCELLED' where id = ${cancelled}`);
    await fixture.db.run(sql`delete from jobs`);
    await requeueStalledPurchases(fixture.db);
    const found = await planned();
    expect(found).toHaveLength(3);
    const tenant = fixture.organizationId;
    expect(found).toEqual(
      expect.arrayContaining([
        { task: CONFIRM_PAYMENT_TASK, key: pending, tenant },
        { task: CONFIRM_PAYMENT_TASK, key: cancelled, tenant },
        { task: ORDER_TASK, key: paid, tenant },
      ]),
    );
    await requeueStalledPurchases(fixture.db);
    expect(await planned()).toEqual(found);
  });

  it('are found when their job was set aside, and left alone while one runs', async () => {
    const [aside, running] = [await fixture.paid(), await fixture.paid()];
    await fixture.db.run(sql`update jobs set failed_at = now() where key = ${aside}`);
    await fixture.db.run(sql`update jobs set worker = 1, started_at = now() where key = ${running}`);
    await requeueStalledPurchases(fixture.db);
    expect(await planned()).toEqual([{ task: ORDER_TASK, key: aside, tenant: fixture.organizationId }]);
  });

  it('are those that are open, and cancelled ones of the last two days', async () => {
    const [ended, old] = [await fixture.paid(), await fixture.purchase()];
    await fixture.order(ended);
    await fixture.db.run(sql`
      update transactions set status = 'CANCELLED', updated_at = now() - interval '49 hours' where id = ${old}`);
    await fixture.db.run(sql`delete from jobs`);
    await requeueStalledPurchases(fixture.db);
    expect(await planned()).toEqual([]);
  });
});

describe('the figures of purchases', () => {
  it('say what is open, for how long, and what is due', async () => {
    await fixture.purchase({ hash: '0x1' });
    const paid = await fixture.paid();
    await fixture.db.run(sql`update sku_purchases set paid_at = now() - interval '1 hour' where id = ${paid}`);
    await fixture.due();
    const figures = Object.fromEntries(
      await Promise.all(purchaseGauges(fixture.db.reads).map(async ({ name, read }) => [name, await read()])),
    ) as Record<string, { labels: object; value: number }[]>;
    const environment = 'development';
    expect(figures.svc_purchases_open).toEqual(
      expect.arrayContaining([
        { labels: { environment, status: 'PENDING' }, value: 1 },
        { labels: { environment, status: 'PROCESSING' }, value: 1 },
      ]),
    );
    const [oldest] = figures.svc_purchases_oldest_processing_seconds ?? [];
    expect(Math.round((oldest?.value ?? 0) / 600)).toBe(6);
    expect(figures.svc_refunds_open).toEqual([{ labels: { environment, status: 'DUE' }, value: 1 }]);
  });
});

describe('the jobs of purchases', () => {
  it('keep their task names, and stalled purchases are requeued each minute', async () => {
    const { handlers, recurring } = fulfilmentJobs(fixture.deps());
    expect(recurring).toEqual([{ task: 'look-after-purchases', everySeconds: 60 }]);
    const id = await fixture.purchase();
    const run = (task: string) =>
      handlers[task]?.({ purchaseId: id } as never, { signal: new AbortController().signal } as never);
    await run(CONFIRM_PAYMENT_TASK);
    await run(ORDER_TASK);
    expect(await fixture.row(id)).toMatchObject({ status: 'SUCCESS' });
  });
});
