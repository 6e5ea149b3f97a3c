import type { endpoints, Transaction } from '@svc/protocol';
import { sql } from '@svc/store';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FulfilmentFixture, PAID } from '../../testing/fulfilment.ts';
import type { ChainChanges } from '../../testing/relayer.ts';
import { refusal } from '../../testing/wallets.ts';
import { ChainUnavailableError } from '../chains/node-fetch.ts';
import type { Call } from '../http/call.ts';
import { createOrganization } from '../organizations/api-keys.ts';
import { cancelSkuPurchase } from './fulfilment.ts';
import { CONFIRM_PAYMENT_TASK } from './purchase.ts';

let fixture: FulfilmentFixture;
beforeAll(async () => {
  fixture = await FulfilmentFixture.start();
});
beforeEach(() => fixture.begin());
afterAll(() => fixture.stop());

function cancel(id: string, chain: ChainChanges = {}, caller = fixture.caller): Promise<Transaction> {
  const call = { caller, params: { id }, transact: fixture.db.tx } as unknown as Call<
    typeof endpoints.cancelSkuPurchase
  >;
  return cancelSkuPurchase(fixture.deps(chain), call) as Promise<Transaction>;
}

const silent: ChainChanges = { receipt: () => Promise.reject(new ChainUnavailableError('STARKNET')) };
const audited = (id: string) =>
  fixture.db.rows(sql`select action, actor from audit_log where target = ${id} order by id`);

describe('cancelling a purchase', () => {
  it('whose payment has arrived ends it, with its payment due for refund', async () => {
    const id = await fixture.purchase();
    expect(await cancel(id)).toMatchObject({ id, status: 'CANCELLED', refundStatus: 'DUE' });
    expect(await fixture.notifications(id)).toEqual({
      events: ['sku-purchase.cancelled'],
      mails: ['purchase-cancelled'],
    });
    expect(await audited(id)).toEqual([{ action: 'sku-purchase.cancelled', actor: 'key_1' }]);
    await fixture.confirm(id);
    await fixture.order(id);
    expect([await fixture.row(id), fixture.provider.calls]).toMatchObject([{ status: 'CANCELLED' }, []]);
  });

  it('whose payment arrives later has it due from then on', async () => {
    await fixture.relayers.sandbox.holdBlocks();
    const id = await fixture.purchase();
    const answer = await cancel(id);
    expect(answer).toMatchObject({ status: 'CANCELLED' });
    expect(answer).not.toHaveProperty('refundStatus');
    await fixture.confirm(id);
    expect(await fixture.row(id)).toMatchObject({ status: 'CANCELLED', refund: null });
    expect(await fixture.jobs(id)).toMatchObject([{ task: CONFIRM_PAYMENT_TASK }]);
    await fixture.relayers.sandbox.mine();
    await fixture.confirm(id);
    expect(await fixture.row(id)).toMatchObject({ status: 'CANCELLED', refund: 'DUE' });
    expect((await fixture.notifications(id)).events).toEqual(['sku-purchase.cancelled']);
  });

  it('works although no node answers', async () => {
    const id = await fixture.purchase();
    expect(await cancel(id, silent)).toMatchObject({ status: 'CANCELLED' });
    await fixture.confirm(id);
    expect(await fixture.row(id)).toMatchObject({ status: 'CANCELLED', refund: 'DUE' });
  });

  it('keeps what was paid although a receipt lacks it', async () => {
    const id = await fixture.purchase({ hash: await fixture.pay(PAID - 1n), amount: PAID });
    const answer = await cancel(id);
    expect(answer).toMatchObject({ status: 'CANCELLED', amount: String(PAID) });
    expect(answer).not.toHaveProperty('refundStatus');
    await fixture.confirm(id);
    expect(await fixture.row(id)).toMatchObject({ refund: null });
    fixture.clock.advance(24 * 3_600_000);
    await fixture.confirm(id, { missingSince: Date.now() });
    expect(await fixture.row(id)).toMatchObject({ status: 'CANCELLED', refund: 'DUE' });
    expect(await fixture.db.one(sql`select amount::bigint as amount from transactions where id = ${id}`)).toEqual({
      amount: PAID - 1n,
    });
  });

  it('keeps since when its payment is missing', async () => {
    const id = await fixture.purchase({ hash: '0xdead' });
    await fixture.confirm(id);
    const [before] = await fixture.jobs(id);
    expect(before?.payload).toMatchObject({ missingSince: expect.any(Number) });
    await cancel(id);
    expect(await fixture.jobs(id)).toMatchObject([{ payload: before?.payload }]);
  });

  it('whose payment was reverted has nothing due, and is looked at for a while', async () => {
    await fixture.relayers.sandbox.fault({ kind: 'revert', reason: 'out of luck' });
    const id = await fixture.purchase();
    await cancel(id);
    await fixture.confirm(id, { looks: 20 });
    expect(await fixture.row(id)).toMatchObject({ status: 'CANCELLED', refund: null });
    expect(await fixture.jobs(id)).toMatchObject([{ task: CONFIRM_PAYMENT_TASK }]);
    fixture.clock.advance(25 * 3_600_000);
    await fixture.db.run(sql`delete from jobs`);
    await fixture.confirm(id, { missingSince: Date.now() });
    expect(await fixture.jobs(id)).toEqual([]);
    expect(await fixture.row(id)).toMatchObject({ status: 'CANCELLED', refund: null });
  });

  it('again answers the same, and tells nothing', async () => {
    const id = await fixture.purchase();
    const first = await cancel(id);
    expect(await cancel(id)).toEqual(first);
    expect(await audited(id)).toHaveLength(1);
  });

  it('is refused once its provider may be called, and once it has ended', async () => {
    const [paid, ended] = [await fixture.paid(), await fixture.paid()];
    await fixture.order(ended);
    await refusal(cancel(paid), 'purchase_not_cancellable');
    await refusal(cancel(ended), 'purchase_not_cancellable');
    expect(await fixture.row(paid)).toMatchObject({ status: 'PROCESSING' });
  });

  it('of another organisation or environment is refused like one that is not there', async () => {
    const id = await fixture.purchase();
    const organizationId = await createOrganization(fixture.db, 'Otra');
    const strangers = [{ organizationId }, { environment: 'production' as const }];
    const messages = [await refusal(cancel('txn_none'), 'purchase_not_found')];
    for (const stranger of strangers) {
      messages.push(await refusal(cancel(id, {}, { ...fixture.caller, ...stranger }), 'purchase_not_found'));
    }
    expect(new Set(messages).size).toBe(1);
    expect(await fixture.row(id)).toMatchObject({ status: 'PENDING' });
  });

  it('and its payment’s confirmation at the same moment exclude each other', async () => {
    for (let round = 0; round < 6; round += 1) {
      const id = await fixture.purchase();
      const [cancelled] = await Promise.allSettled([cancel(id), fixture.confirm(id)]);
      await fixture.order(id);
      const isDelivered = fixture.provider.orders.has(id);
      expect([cancelled?.status, await fixture.row(id)]).toMatchObject(
        isDelivered
          ? ['rejected', { status: 'SUCCESS', refund: null }]
          : ['fulfilled', { status: 'CANCELLED', refund: 'DUE' }],
      );
    }
  });
});
