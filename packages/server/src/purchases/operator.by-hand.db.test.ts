import { sql } from '@svc/store';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Shop } from '../../testing/fulfilment.ts';
import { COMPLETED, REFUSED } from '../../testing/stub-provider.ts';
import { cancelByHand, endByHand, stuckPurchases } from './operator.ts';

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.start();
});
beforeEach(() => shop.begin());
afterAll(() => shop.stop());

const audited = (id: string) =>
  shop.db.rows(sql`select action, actor, changes, organization_id as organization from audit_log where target = ${id}`);

describe('the operator’s word', () => {
  it('ends a purchase whose provider does not answer, as the provider’s would, and is written down', async () => {
    const id = await shop.paid();
    shop.provider.isDown = true;
    await shop.order(id);
    expect(await endByHand(shop.db, id, COMPLETED)).toEqual({ ok: true, status: 'SUCCESS' });
    expect(await shop.seen(id)).toMatchObject({ status: 'SUCCESS', fileNumber: 'F-1' });
    expect(await shop.told(id)).toMatchObject({ mails: ['purchase-completed'] });
    expect(await audited(id)).toEqual([
      {
        action: 'sku-purchase.completed',
        actor: 'operator',
        changes: { fileNumber: 'F-1' },
        organization: shop.organizationId,
      },
    ]);
  });

  it('fails a purchase that was never ordered, and it is not ordered any more', async () => {
    const id = await shop.paid();
    expect(await endByHand(shop.db, id, REFUSED)).toEqual({ ok: true, status: 'FAILED' });
    expect(await shop.seen(id)).toMatchObject({ status: 'FAILED', refund: 'DUE', reason: REFUSED.reason });
    await shop.order(id);
    expect(shop.provider.asked).toEqual([]);
  });

  it('waits while a worker asks the provider', async () => {
    const id = await shop.paid();
    await shop.db.run(sql`update jobs set worker = 1, started_at = now() where key = ${id}`);
    expect(await endByHand(shop.db, id, REFUSED)).toMatchObject({
      ok: false,
      reason: expect.stringContaining('minute'),
    });
    expect([await shop.seen(id), await audited(id)]).toMatchObject([{ status: 'PROCESSING' }, []]);
    await shop.db.run(sql`delete from jobs`);
    expect(await endByHand(shop.db, id, REFUSED)).toEqual({ ok: true, status: 'FAILED' });
  });

  it.each(['', ' ', '9'.repeat(256), '1\n2'])(
    'is no file number that a provider could not say: %j',
    async (fileNumber) => {
      const id = await shop.paid();
      expect(await endByHand(shop.db, id, { state: 'completed', fileNumber })).toMatchObject({
        ok: false,
        reason: expect.stringContaining('255'),
      });
      expect(await shop.seen(id)).toMatchObject({ status: 'PROCESSING', fileNumber: null });
    },
  );

  it('cancels what waits for its payment, and nothing else', async () => {
    const [pending, paid] = [await shop.purchase(), await shop.paid()];
    expect(await cancelByHand(shop.db, pending)).toEqual({ ok: true, status: 'CANCELLED' });
    expect(await audited(pending)).toMatchObject([{ action: 'sku-purchase.cancelled', actor: 'operator' }]);
    await shop.confirm(pending);
    expect(await shop.seen(pending)).toMatchObject({ status: 'CANCELLED', refund: 'DUE' });
    expect((await shop.told(pending)).events).toEqual(['sku-purchase.cancelled']);
    expect(await cancelByHand(shop.db, paid)).toMatchObject({ ok: false });
    expect(await cancelByHand(shop.db, 'txn_none')).toMatchObject({ ok: false });
    expect(await shop.seen(paid)).toMatchObject({ status: 'PROCESSING' });
  });

  it('is refused for what waits for its payment, has ended, or is not there', async () => {
    const [pending, ended] = [await shop.purchase(), await shop.due()];
    expect(await endByHand(shop.db, pending, COMPLETED)).toMatchObject({
      ok: false,
      reason: expect.stringContaining('PENDING'),
    });
    expect(await endByHand(shop.db, ended, COMPLETED)).toMatchObject({
      ok: false,
      reason: expect.stringContaining('FAILED'),
    });
    expect(await endByHand(shop.db, 'txn_none', COMPLETED)).toMatchObject({ ok: false });
    expect(await audited(ended)).toEqual([]);
  });
});

describe('what is stuck', () => {
  it('is what has been open for longer than ten minutes, the oldest first', async () => {
    const [fresh, late, later] = [await shop.paid(), await shop.paid(), await shop.paid()];
    const age = (id: string, minutes: number) =>
      shop.db.run(sql`update sku_purchases set paid_at = now() - make_interval(mins => ${minutes}) where id = ${id}`);
    await age(late, 11);
    await age(later, 60);
    const stuck = (await stuckPurchases(shop.db.reads, 10)) as { id: string }[];
    expect(stuck).toMatchObject([
      { id: later, status: 'PROCESSING', sku_reference: '5512345678', amount: '50.5' },
      { id: late },
    ]);
    expect(stuck.map(({ id }) => id)).not.toContain(fresh);
  });
});
