import type { endpoints, Transaction } from '@svc/protocol';
import { sql } from '@svc/store';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PAID, Shop } from '../../testing/fulfilment.ts';
import type { ChainChanges } from '../../testing/relayer.ts';
import { refusal } from '../../testing/wallets.ts';
import { ChainUnavailableError } from '../chains/node-fetch.ts';
import type { Call } from '../http/call.ts';
import { createOrganization } from '../organizations/api-keys.ts';
import { cancelSkuPurchase } from './fulfilment.ts';
import { CONFIRM_PAYMENT_TASK } from './purchase.ts';

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.start();
});
beforeEach(() => shop.begin());
afterAll(() => shop.stop());

function cancel(id: string, chain: ChainChanges = {}, caller = shop.caller): Promise<Transaction> {
  const call = { caller, params: { id }, transact: shop.db.tx } as unknown as Call<typeof endpoints.cancelSkuPurchase>;
  return cancelSkuPurchase(shop.parts(chain), call) as Promise<Transaction>;
}

const silent: ChainChanges = { receipt: () => Promise.reject(new ChainUnavailableError('STARKNET')) };
const audited = (id: string) => shop.db.rows(sql`select action, actor from audit_log where target = ${id} order by id`);

describe('cancelling a purchase', () => {
  it('whose payment has arrived ends it, with its payment due for refund', async () => {
    const id = await shop.purchase();
    expect(await cancel(id)).toMatchObject({ id, status: 'CANCELLED', refundStatus: 'DUE' });
    expect(await shop.told(id)).toEqual({ events: ['sku-purchase.cancelled'], mails: ['purchase-cancelled'] });
    expect(await audited(id)).toEqual([{ action: 'sku-purchase.cancelled', actor: 'key_1' }]);
    await shop.confirm(id);
    await shop.order(id);
    expect([await shop.seen(id), shop.provider.asked]).toMatchObject([{ status: 'CANCELLED' }, []]);
  });

  it('whose payment arrives later has it due from then on', async () => {
    await shop.relayers.controls.holdBlocks();
    const id = await shop.purchase();
    const answer = await cancel(id);
    expect(answer).toMatchObject({ status: 'CANCELLED' });
    expect(answer).not.toHaveProperty('refundStatus');
    await shop.confirm(id);
    expect(await shop.seen(id)).toMatchObject({ status: 'CANCELLED', refund: null });
    expect(await shop.planned(id)).toMatchObject([{ task: CONFIRM_PAYMENT_TASK }]);
    await shop.relayers.controls.mine();
    await shop.confirm(id);
    expect(await shop.seen(id)).toMatchObject({ status: 'CANCELLED', refund: 'DUE' });
    expect((await shop.told(id)).events).toEqual(['sku-purchase.cancelled']);
  });

  it('works although no node answers', async () => {
    const id = await shop.purchase();
    expect(await cancel(id, silent)).toMatchObject({ status: 'CANCELLED' });
    await shop.confirm(id);
    expect(await shop.seen(id)).toMatchObject({ status: 'CANCELLED', refund: 'DUE' });
  });

  it('keeps what was paid although a receipt lacks it', async () => {
    const id = await shop.purchase({ hash: await shop.pay(PAID - 1n), amount: PAID });
    const answer = await cancel(id);
    expect(answer).toMatchObject({ status: 'CANCELLED', amount: String(PAID) });
    expect(answer).not.toHaveProperty('refundStatus');
    await shop.confirm(id);
    expect(await shop.seen(id)).toMatchObject({ refund: null });
    shop.wait(24 * 3_600_000);
    await shop.confirm(id, { missingSince: Date.now() });
    expect(await shop.seen(id)).toMatchObject({ status: 'CANCELLED', refund: 'DUE' });
    expect(await shop.db.one(sql`select amount::bigint as amount from transactions where id = ${id}`)).toEqual({
      amount: PAID - 1n,
    });
  });

  it('keeps since when its payment is missing', async () => {
    const id = await shop.purchase({ hash: '0xdead' });
    await shop.confirm(id);
    const [before] = await shop.planned(id);
    expect(before?.payload).toMatchObject({ missingSince: expect.any(Number) });
    await cancel(id);
    expect(await shop.planned(id)).toMatchObject([{ payload: before?.payload }]);
  });

  it('whose payment was reverted has nothing due, and is looked at for a while', async () => {
    await shop.relayers.controls.fault({ kind: 'revert', reason: 'out of luck' });
    const id = await shop.purchase();
    await cancel(id);
    await shop.confirm(id, { looks: 20 });
    expect(await shop.seen(id)).toMatchObject({ status: 'CANCELLED', refund: null });
    expect(await shop.planned(id)).toMatchObject([{ task: CONFIRM_PAYMENT_TASK }]);
    shop.wait(25 * 3_600_000);
    await shop.db.run(sql`delete from jobs`);
    await shop.confirm(id, { missingSince: Date.now() });
    expect(await shop.planned(id)).toEqual([]);
    expect(await shop.seen(id)).toMatchObject({ status: 'CANCELLED', refund: null });
  });

  it('again answers the same, and tells nothing', async () => {
    const id = await shop.purchase();
    const first = await cancel(id);
    expect(await cancel(id)).toEqual(first);
    expect(await audited(id)).toHaveLength(1);
  });

  it('is refused once its provider may be called, and once it has ended', async () => {
    const [paid, ended] = [await shop.paid(), await shop.paid()];
    await shop.order(ended);
    await refusal(cancel(paid), 'purchase_not_cancellable');
    await refusal(cancel(ended), 'purchase_not_cancellable');
    expect(await shop.seen(paid)).toMatchObject({ status: 'PROCESSING' });
  });

  it('of another organisation or environment is refused like one that is not there', async () => {
    const id = await shop.purchase();
    const organizationId = await createOrganization(shop.db, 'Otra');
    const strangers = [{ organizationId }, { environment: 'production' as const }];
    const messages = [await refusal(cancel('txn_none'), 'purchase_not_found')];
    for (const stranger of strangers) {
      messages.push(await refusal(cancel(id, {}, { ...shop.caller, ...stranger }), 'purchase_not_found'));
    }
    expect(new Set(messages).size).toBe(1);
    expect(await shop.seen(id)).toMatchObject({ status: 'PENDING' });
  });

  it('and its payment’s confirmation at the same moment exclude each other', async () => {
    for (let round = 0; round < 6; round += 1) {
      const id = await shop.purchase();
      const [cancelled] = await Promise.allSettled([cancel(id), shop.confirm(id)]);
      await shop.order(id);
      const isDelivered = shop.provider.orders.has(id);
      expect([cancelled?.status, await shop.seen(id)]).toMatchObject(
        isDelivered
          ? ['rejected', { status: 'SUCCESS', refund: null }]
          : ['fulfilled', { status: 'CANCELLED', refund: 'DUE' }],
      );
    }
  });
});
