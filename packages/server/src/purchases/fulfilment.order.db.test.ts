import { sql } from '@svc/store';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ACCEPTED, COMPLETED, FulfilmentFixture, PAID, REFUSED } from '../../testing/fulfilment.ts';
import { endOrder } from './fulfilment.ts';
import { endByOperator } from './operator.ts';
import { lockPurchase, ORDER_TASK, orderJob } from './purchase.ts';

const HOUR_MS = 3_600_000;
let fixture: FulfilmentFixture;
beforeAll(async () => {
  fixture = await FulfilmentFixture.start();
});
beforeEach(() => fixture.begin());
afterAll(() => fixture.stop());

const errors = () => fixture.logged.filter(({ level }) => level === 'error').map(({ message }) => message);
const SUCCESS = { status: 'SUCCESS', refund: null, reason: null, fileNumber: 'F-1' };
/** Paid for, and nothing of it planned, so that what the order plans is seen. */
async function paid(): Promise<string> {
  const id = await fixture.paid();
  await fixture.db.run(sql`delete from jobs`);
  return id;
}

describe('an order', () => {
  it('is exactly what was bought, under the id of the purchase', async () => {
    const id = await paid();
    await fixture.order(id);
    expect(fixture.provider.orders.get(id)).toEqual({
      orderId: id,
      organizationId: fixture.organizationId,
      environment: 'development',
      catalogue: 'organization',
      providerId: 'taecel',
      skuId: 'TELCEL',
      reference: '5512345678',
      amount: '50.5',
      currency: 'MXN',
    });
  });

  it('that is completed ends the purchase with its file number, at the time of the payment’s block', async () => {
    const id = await paid();
    await fixture.order(id);
    expect(await fixture.row(id)).toEqual(SUCCESS);
    expect(await fixture.notifications(id)).toEqual({
      events: ['sku-purchase.processing', 'sku-purchase.completed'],
      mails: ['purchase-completed'],
    });
    const times = sql`
      select confirmed_at = block_time as same from transactions join sku_purchases using (id) where id = ${id}`;
    expect(await fixture.db.one(times)).toEqual({ same: true });
    expect(await fixture.jobs(id)).toEqual([]);
  });

  it('that is refused ends it with the reason, and its payment is due', async () => {
    const id = await paid();
    fixture.provider.outcomes.push(REFUSED);
    await fixture.order(id);
    expect(await fixture.row(id)).toEqual({
      status: 'FAILED',
      refund: 'DUE',
      reason: REFUSED.reason,
      fileNumber: null,
    });
    expect(await fixture.notifications(id)).toMatchObject({ mails: ['purchase-failed'] });
    const event = sql`select data from events where subject = ${id} and type = 'sku-purchase.failed'`;
    expect(await fixture.db.one(event)).toMatchObject({
      data: { id, status: 'FAILED', failureReason: REFUSED.reason, refundStatus: 'DUE', amount: String(PAID) },
    });
  });

  it('is on record before the provider hears of it', async () => {
    const id = await paid();
    const seen: unknown[] = [];
    fixture.provider.onOrder = async () => {
      seen.push(
        await fixture.db.one(sql`select ordered_at is not null as ordered from sku_purchases where id = ${id}`),
      );
    };
    await fixture.order(id);
    expect(seen).toEqual([{ ordered: true }]);
  });

  it('is never made for a purchase that is not paid for, or has ended', async () => {
    const [pending, ended] = [await fixture.purchase(), await paid()];
    await fixture.order(ended);
    fixture.provider.calls.length = 0;
    for (const id of [pending, ended, 'txn_none']) await fixture.order(id);
    expect(fixture.provider.calls).toEqual([]);
  });
});

describe('an order without an outcome', () => {
  it('is looked up first, and not made again where it has arrived', async () => {
    const id = await paid();
    fixture.provider.outcomes.push('answer lost');
    await fixture.order(id);
    expect(await fixture.row(id)).toMatchObject({ status: 'PROCESSING' });
    expect(await fixture.jobs(id)).toMatchObject([{ task: ORDER_TASK, inSeconds: 2 }]);
    await fixture.order(id);
    expect(await fixture.row(id)).toEqual(SUCCESS);
    expect(fixture.provider.calls).toEqual(['order', 'lookUp']);
  });

  it('is made again under the same id where it has not', async () => {
    const id = await paid();
    fixture.provider.outcomes.push('lost');
    await fixture.order(id);
    await fixture.order(id);
    expect(await fixture.row(id)).toEqual(SUCCESS);
    expect(fixture.provider.calls).toEqual(['order', 'lookUp', 'order']);
    expect([...fixture.provider.orders.keys()]).toEqual([id]);
  });

  it('is asked for ever more seldom, hourly at last, and the log says so once it is a day old', async () => {
    const id = await paid();
    fixture.provider.isDown = true;
    const pauses: number[] = [];
    for (const ageMs of [0, 60_000, HOUR_MS, 23 * HOUR_MS]) {
      fixture.clock.advance(ageMs);
      await fixture.db.run(sql`delete from jobs`);
      await fixture.order(id);
      pauses.push((await fixture.jobs(id))[0]?.inSeconds ?? -1);
    }
    expect(pauses.map((seconds) => Math.round(seconds / 30) * 30)).toEqual([0, 30, 1_830, 3_600]);
    expect(errors()).toEqual(['purchase without an outcome for more than a day']);
    expect(await fixture.row(id)).toMatchObject({ status: 'PROCESSING' });
    fixture.provider.isDown = false;
    await fixture.order(id);
    expect(await fixture.row(id)).toEqual(SUCCESS);
  });

  it('waits where no provider is configured any more', async () => {
    const id = await paid();
    await fixture.order(id, { providers: () => undefined });
    expect(await fixture.row(id)).toMatchObject({ status: 'PROCESSING' });
    expect(await fixture.jobs(id)).toHaveLength(1);
    expect(fixture.logged).toMatchObject([{ level: 'error' }]);
  });
});

describe('an order and the operator’s word', () => {
  it('is not made for a purchase that was ended while it was looked up', async () => {
    const id = await paid();
    fixture.provider.outcomes.push('lost');
    await fixture.order(id);
    fixture.provider.onLookUp = async () => void (await fixture.db.tx((tx) => endByOperator(tx, id, REFUSED)));
    await fixture.order(id);
    expect(await fixture.row(id)).toMatchObject({ status: 'FAILED', refund: 'DUE' });
    expect(fixture.provider.calls).toEqual(['order', 'lookUp']);
  });

  it('that contradict each other are logged as errors', async () => {
    const id = await paid();
    fixture.provider.onOrder = async () => void (await fixture.db.tx((tx) => endOrder(tx, id, REFUSED)));
    await fixture.order(id);
    expect(await fixture.row(id)).toMatchObject({ status: 'FAILED', refund: 'DUE' });
    expect(errors()).toEqual(['provider result differs from the stored end']);
  });

  it('that agree are no matter', async () => {
    const id = await paid();
    fixture.provider.onOrder = async () => void (await fixture.db.tx((tx) => endOrder(tx, id, COMPLETED)));
    await fixture.order(id);
    expect([await fixture.row(id), errors()]).toEqual([SUCCESS, []]);
  });
});

describe('a first order that comes late', () => {
  it('is made when the chain still shows the payment', async () => {
    const id = await paid();
    fixture.clock.advance(HOUR_MS);
    await fixture.order(id);
    expect(await fixture.row(id)).toEqual(SUCCESS);
  });

  it('is not made while the chain does not', async () => {
    const id = await paid();
    fixture.clock.advance(HOUR_MS);
    await fixture.relayers.reorganise(1, 'drop');
    await fixture.order(id);
    expect([fixture.provider.calls, await fixture.row(id)]).toMatchObject([[], { status: 'PROCESSING' }]);
    expect(await fixture.jobs(id)).toMatchObject([{ task: ORDER_TASK }]);
    expect(errors()).toEqual(['purchase not ordered: payment not on the chain']);
  });
});

describe('an order that is accepted', () => {
  it('and that its provider knows nothing of later is not made again', async () => {
    const id = await paid();
    fixture.provider.outcomes.push(ACCEPTED);
    await fixture.order(id);
    fixture.provider.results.clear();
    await fixture.db.run(sql`delete from jobs`);
    await fixture.order(id);
    expect(fixture.provider.calls).toEqual(['order', 'lookUp']);
    expect([await fixture.row(id), await fixture.jobs(id)]).toMatchObject([
      { status: 'PROCESSING' },
      [{ task: ORDER_TASK }],
    ]);
    expect(errors()).toEqual(['provider lost an accepted order']);
  });

  it('is looked up after half a minute, and again until its result is there', async () => {
    const id = await paid();
    fixture.provider.outcomes.push(ACCEPTED);
    await fixture.order(id);
    expect(await fixture.jobs(id)).toMatchObject([{ task: ORDER_TASK, inSeconds: 30 }]);
    await fixture.order(id);
    expect(await fixture.row(id)).toMatchObject({ status: 'PROCESSING' });
    const accepted = sql`select accepted_at is not null as accepted from sku_purchases where id = ${id}`;
    expect(await fixture.db.one(accepted)).toEqual({ accepted: true });
    fixture.provider.results.set(id, REFUSED);
    await fixture.order(id);
    expect(await fixture.row(id)).toMatchObject({ status: 'FAILED', refund: 'DUE' });
    expect(fixture.provider.calls).toEqual(['order', 'lookUp', 'lookUp']);
  });

  it('and ended by a callback before its answer came is as the callback said', async () => {
    const id = await paid();
    fixture.provider.onOrder = async () => void (await fixture.db.tx((tx) => endOrder(tx, id, REFUSED)));
    await fixture.order(id);
    expect(await fixture.row(id)).toMatchObject({ status: 'FAILED', reason: REFUSED.reason, fileNumber: null });
    expect(await fixture.jobs(id)).toEqual([]);
  });
});

describe('the lanes of orders', () => {
  it('are few, so that a provider that hangs leaves places for others; a purchase is always in the same', async () => {
    const records = await Promise.all(
      Array.from({ length: 60 }, async () => {
        const purchase = await lockPurchase(fixture.db, await fixture.purchase({ hash: '0x1' }));
        if (!purchase) throw new Error('It is gone.');
        return purchase;
      }),
    );
    const lanes = records.map((purchase) => orderJob(purchase).queue);
    expect(records.map((purchase) => orderJob(purchase).queue)).toEqual(lanes);
    expect(new Set(lanes).size).toBe(4);
  });
});

describe('the first word of an outcome', () => {
  it('counts; what comes later changes and tells nothing', async () => {
    const id = await paid();
    await fixture.order(id);
    expect(await fixture.db.tx((tx) => endOrder(tx, id, REFUSED))).toBe('ended');
    expect(await fixture.db.tx((tx) => endOrder(tx, id, COMPLETED))).toBe('ended');
    expect(await fixture.row(id)).toEqual(SUCCESS);
    expect((await fixture.notifications(id)).mails).toEqual(['purchase-completed']);
  });

  it('is one, of many at the same time', async () => {
    const id = await paid();
    fixture.provider.outcomes.push(ACCEPTED);
    await fixture.order(id);
    const words = Array.from({ length: 8 }, (_, turn) => (turn % 2 ? REFUSED : COMPLETED));
    const stored = await Promise.all(words.map((word) => fixture.db.tx((tx) => endOrder(tx, id, word))));
    expect(stored.filter((one) => one === 'stored')).toHaveLength(1);
    const { events, mails } = await fixture.notifications(id);
    expect([events.length, mails.length]).toEqual([2, 1]);
  });

  it('of a provider that was never called is nothing', async () => {
    const [pending, unordered] = [await fixture.purchase(), await paid()];
    for (const id of [pending, unordered, 'txn_none']) {
      expect(await fixture.db.tx((tx) => endOrder(tx, id, COMPLETED))).toBe('unknown');
    }
    expect(await fixture.row(pending)).toMatchObject({ status: 'PENDING' });
    expect(await fixture.row(unordered)).toMatchObject({ status: 'PROCESSING' });
  });

  it('may be long and odd', async () => {
    const id = await paid();
    fixture.provider.outcomes.push({ state: 'failed', reason: `\0${'x'.repeat(5_000)}😀` });
    await fixture.order(id);
    expect((await fixture.row(id))?.reason).toBe('x'.repeat(4_000));
    const other = await paid();
    fixture.provider.outcomes.push({ state: 'completed', fileNumber: `${'9'.repeat(254)}😀` });
    await fixture.order(other);
    expect((await fixture.row(other))?.fileNumber).toMatch(/^9{254}/);
  });
});
