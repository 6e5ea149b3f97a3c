import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { PurchaseFixture, references } from '../support/purchases.ts';
import { TestService } from '../support/service.ts';

const NOTIFIED = 'ventas@shop.example';
let service: TestService;
let shop: PurchaseFixture;
beforeAll(async () => {
  service = await TestService.start();
  shop = await PurchaseFixture.start(service);
  const { organizationId } = service.server.credentials;
  await service.changeSettings(organizationId, { notification_email: NOTIFIED });
});
afterEach(() => shop.sandbox.thaw());
afterAll(async () => {
  const errors = service.errors();
  await service.stop();
  expect(errors).toEqual([]);
});

describe('cancelling', () => {
  it('stops a purchase whose payment’s block is open; once it is sealed the payment is due for refund', async () => {
    await shop.sandbox.freeze();
    const { id } = await shop.buy(references.quick);
    const cancelled = await shop.cancel(id);
    expect([cancelled.status, cancelled.body]).toMatchObject([200, { id, status: 'CANCELLED' }]);
    expect(cancelled.body).not.toHaveProperty('refundStatus');
    await shop.sandbox.ask('/starknet/mine', { blocks: 1 });
    const due = await shop.until(id, ({ refundStatus }) => refundStatus !== undefined);
    expect(due).toMatchObject({ status: 'CANCELLED', refundStatus: 'DUE' });
    expect(await shop.providerOrder(id)).toBeUndefined();
    expect((await shop.cancel(id)).body).toEqual(due);
    const [mail] = await shop.mails(NOTIFIED, id, 1);
    expect(mail?.subject).toContain('Compra cancelada');
    await shop.sandbox.thaw();
    expect((await shop.refund(id)).status).toBe(200);
    expect(await shop.until(id, ({ refundStatus }) => refundStatus === 'REFUNDED')).toMatchObject({
      status: 'CANCELLED',
    });
  });

  it('is refused for what is delivered, and changes nothing', async () => {
    const ended = await shop.bought(references.quick);
    const refused = await shop.cancel(ended.id);
    expect([refused.status, refused.body]).toMatchObject([400, { error: 'purchase_not_cancellable' }]);
    expect(await shop.read(ended.id)).toEqual(ended);
  });

  it('of another organisation’s purchase is answered like that of none', async () => {
    await shop.sandbox.freeze();
    const { id } = await shop.buy(references.quick);
    const { headers } = await service.organization({ name: 'Otra' });
    const [theirs, nobodys] = [await shop.cancel(id, headers), await shop.cancel('txn_none', headers)];
    expect([theirs.status, theirs.text]).toEqual([404, nobodys.text]);
    expect(await shop.read(id)).toMatchObject({ status: 'PENDING' });
  });

  it('and confirming at the same moment exclude each other: it is delivered or given back, never both', async () => {
    for (let round = 0; round < 4; round += 1) {
      const { id } = await shop.buy(references.quick);
      const answer = await shop.cancel(id);
      const ended = await shop.ended(id);
      const ordered = await shop.providerOrder(id);
      expect([answer.status, ended.status, ended.refundStatus, ordered?.delivered]).toEqual(
        answer.status === 200 ? [200, 'CANCELLED', 'DUE', undefined] : [400, 'SUCCESS', undefined, 1],
      );
    }
  });
});
