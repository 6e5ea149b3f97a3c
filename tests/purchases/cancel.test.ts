import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { PurchaseFixture, references } from '../support/purchases.ts';
import { type AnyService, TestService } from '../support/service.ts';

const NOTIFIED = 'ventas@shop.example';
let service: AnyService;
let fixture: PurchaseFixture;
beforeAll(async () => {
  service = await TestService.hosted();
  fixture = await PurchaseFixture.start(service);
  const { organizationId } = service.server.credentials;
  await service.changeSettings(organizationId, { notification_email: NOTIFIED });
});
afterEach(() => fixture.sandbox.thaw());
afterAll(async () => {
  const errors = service.errors();
  await service.stop();
  expect(errors).toEqual([]);
});

describe('cancelling', () => {
  it('stops a purchase whose payment’s block is open; once it is sealed the payment is due for refund', async () => {
    await fixture.sandbox.freeze();
    const { id } = await fixture.buy(references.quick);
    const cancelled = await fixture.cancel(id);
    expect([cancelled.status, cancelled.body]).toMatchObject([200, { id, status: 'CANCELLED' }]);
    expect(cancelled.body).not.toHaveProperty('refundStatus');
    await fixture.sandbox.ask('/starknet/mine', { blocks: 1 });
    const due = await fixture.until(id, ({ refundStatus }) => refundStatus !== undefined);
    expect(due).toMatchObject({ status: 'CANCELLED', refundStatus: 'DUE' });
    expect(await fixture.providerOrder(id)).toBeUndefined();
    expect((await fixture.cancel(id)).body).toEqual(due);
    const [mail] = await fixture.mails(NOTIFIED, id, 1);
    expect(mail?.subject).toContain('Compra cancelada');
    await fixture.sandbox.thaw();
    expect((await fixture.refund(id)).status).toBe(200);
    expect(await fixture.until(id, ({ refundStatus }) => refundStatus === 'REFUNDED')).toMatchObject({
      status: 'CANCELLED',
    });
  });

  it('is refused for what is delivered, and changes nothing', async () => {
    const ended = await fixture.bought(references.quick);
    const refused = await fixture.cancel(ended.id);
    expect([refused.status, refused.body]).toMatchObject([400, { error: 'purchase_not_cancellable' }]);
    expect(await fixture.read(ended.id)).toEqual(ended);
  });

  it('of another organisation’s purchase is answered like that of none', async () => {
    await fixture.sandbox.freeze();
    const { id } = await fixture.buy(references.quick);
    const { headers } = await service.organization({ name: 'Otra' });
    const [theirs, missing] = [await fixture.cancel(id, headers), await fixture.cancel('txn_none', headers)];
    expect([theirs.status, theirs.text]).toEqual([404, missing.text]);
    expect(await fixture.read(id)).toMatchObject({ status: 'PENDING' });
  });

  it('and confirming at the same moment exclude each other: it is delivered or given back, never both', async () => {
    for (let round = 0; round < 4; round += 1) {
      const { id } = await fixture.buy(references.quick);
      const answer = await fixture.cancel(id);
      const ended = await fixture.ended(id);
      const ordered = await fixture.providerOrder(id);
      expect([answer.status, ended.status, ended.refundStatus, ordered?.delivered]).toEqual(
        answer.status === 200 ? [200, 'CANCELLED', 'DUE', undefined] : [400, 'SUCCESS', undefined, 1],
      );
    }
  });
});
