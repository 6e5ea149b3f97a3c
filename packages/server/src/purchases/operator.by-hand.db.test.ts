import { sql } from '@svc/store';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { COMPLETED, FulfilmentFixture, REFUSED } from '../../testing/fulfilment.ts';
import { cancelByOperator, endByOperator, stuckPurchases } from './operator.ts';

let fixture: FulfilmentFixture;
beforeAll(async () => {
  fixture = await FulfilmentFixture.start();
});
beforeEach(() => fixture.begin());
afterAll(() => fixture.stop());

const audited = (id: string) =>
  fixture.db.rows(
    sql`select action, actor, changes, organization_id as organization from audit_log where target = ${id}`,
  );

describe('the operator’s word', () => {
  it('ends a purchase whose provider does not answer, as the provider’s would, and is written down', async () => {
    const id = await fixture.paid();
    fixture.provider.isDown = true;
    await fixture.order(id);
    expect(await fixture.db.tx((tx) => endByOperator(tx, id, COMPLETED))).toEqual({ ok: true, status: 'SUCCESS' });
    expect(await fixture.row(id)).toMatchObject({ status: 'SUCCESS', fileNumber: 'F-1' });
    expect(await fixture.notifications(id)).toMatchObject({ mails: ['purchase-completed'] });
    expect(await audited(id)).toEqual([
      {
        action: 'sku-purchase.completed',
        actor: 'operator',
        changes: { fileNumber: 'F-1' },
        organization: fixture.organizationId,
      },
    ]);
  });

  it('fails a purchase that was never ordered, and it is not ordered any more', async () => {
    const id = await fixture.paid();
    expect(await fixture.db.tx((tx) => endByOperator(tx, id, REFUSED))).toEqual({ ok: true, status: 'FAILED' });
    expect(await fixture.row(id)).toMatchObject({ status: 'FAILED', refund: 'DUE', reason: REFUSED.reason });
    await fixture.order(id);
    expect(fixture.provider.calls).toEqual([]);
  });

  it('waits while a worker asks the provider', async () => {
    const id = await fixture.paid();
    await fixture.db.run(sql`update jobs set worker = 1, started_at = now() where key = ${id}`);
    expect(await fixture.db.tx((tx) => endByOperator(tx, id, REFUSED))).toMatchObject({
      ok: false,
      reason: expect.stringContaining('minute'),
    });
    expect([await fixture.row(id), await audited(id)]).toMatchObject([{ status: 'PROCESSING' }, []]);
    await fixture.db.run(sql`delete from jobs`);
    expect(await fixture.db.tx((tx) => endByOperator(tx, id, REFUSED))).toEqual({ ok: true, status: 'FAILED' });
  });

  it.each(['', ' ', '9'.repeat(256), '1\n2'])(
    'is no file number that a provider could not say: %j',
    async (fileNumber) => {
      const id = await fixture.paid();
      expect(await fixture.db.tx((tx) => endByOperator(tx, id, { state: 'completed', fileNumber }))).toMatchObject({
        ok: false,
        reason: expect.stringContaining('255'),
      });
      expect(await fixture.row(id)).toMatchObject({ status: 'PROCESSING', fileNumber: null });
    },
  );

  it('cancels what waits for its payment, and nothing else', async () => {
    const [pending, paid] = [await fixture.purchase(), await fixture.paid()];
    expect(await fixture.db.tx((tx) => cancelByOperator(tx, pending))).toEqual({ ok: true, status: 'CANCELLED' });
    expect(await audited(pending)).toMatchObject([{ action: 'sku-purchase.cancelled', actor: 'operator' }]);
    await fixture.confirm(pending);
    expect(await fixture.row(pending)).toMatchObject({ status: 'CANCELLED', refund: 'DUE' });
    expect((await fixture.notifications(pending)).events).toEqual(['sku-purchase.cancelled']);
    expect(await fixture.db.tx((tx) => cancelByOperator(tx, paid))).toMatchObject({ ok: false });
    expect(await fixture.db.tx((tx) => cancelByOperator(tx, 'txn_none'))).toMatchObject({ ok: false });
    expect(await fixture.row(paid)).toMatchObject({ status: 'PROCESSING' });
  });

  it('is refused for what waits for its payment, has ended, or is not there', async () => {
    const [pending, ended] = [await fixture.purchase(), await fixture.due()];
    expect(await fixture.db.tx((tx) => endByOperator(tx, pending, COMPLETED))).toMatchObject({
      ok: false,
      reason: expect.stringContaining('PENDING'),
    });
    expect(await fixture.db.tx((tx) => endByOperator(tx, ended, COMPLETED))).toMatchObject({
      ok: false,
      reason: expect.stringContaining('FAILED'),
    });
    expect(await fixture.db.tx((tx) => endByOperator(tx, 'txn_none', COMPLETED))).toMatchObject({ ok: false });
    expect(await audited(ended)).toEqual([]);
  });
});

describe('what is stuck', () => {
  it('is what has been open for longer than ten minutes, the oldest first', async () => {
    const [fresh, late, later] = [await fixture.paid(), await fixture.paid(), await fixture.paid()];
    const age = (id: string, minutes: number) =>
      fixture.db.run(
        sql`update sku_purchases set paid_at = now() - make_interval(mins => ${minutes}) where id = ${id}`,
      );
    await age(late, 11);
    await age(later, 60);
    const stuck = (await stuckPurchases(fixture.db.reads, 10)) as { id: string }[];
    expect(stuck).toMatchObject([
      { id: later, status: 'PROCESSING', sku_reference: '5512345678', amount: '50.5' },
      { id: late },
    ]);
    expect(stuck.map(({ id }) => id)).not.toContain(fresh);
  });
});
