import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Received, status } from '../../packages/server/testing/receiver.ts';
import { startReceiver } from '../../packages/server/testing/webhooks.ts';
import { send } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { admin } from '../support/operator.ts';
import { PurchaseFixture, references } from '../support/purchases.ts';
import { TestService } from '../support/service.ts';
import { WebhookFixture } from '../support/webhooks.ts';

const NOTIFIED = 'ventas@shop.example';
const WAIT_LIMIT_MS = 60_000;
/** The provider may be asked meanwhile. */
const OPERATOR_MS = 180_000;

let service: TestService;
let fixture: PurchaseFixture;
beforeAll(async () => {
  service = await TestService.hosted({ ALLOW_LOOPBACK_URLS: 'on' });
  fixture = await PurchaseFixture.start(service);
  const { organizationId } = service.server.credentials;
  await service.changeSettings(organizationId, { notification_email: NOTIFIED });
  await fixture.sandbox.ask('/provider/settings', { slowSeconds: 0 });
});
afterAll(async () => {
  const errors = service.errors();
  await service.stop();
  expect(errors).toEqual([]);
});

interface Told {
  readonly type: string;
  readonly data: Record<string, unknown>;
}

/** The events of a purchase, once there are `count`. */
async function eventTypesOf(received: readonly Received[], id: string, count: number): Promise<Told[]> {
  const read = async () => received.map(({ body }) => JSON.parse(body) as Told).filter(({ data }) => data.id === id);
  return eventually(read, (told) => told.length >= count, WAIT_LIMIT_MS);
}

const byType = (one: Told, other: Told) => one.type.localeCompare(other.type);

describe('a purchase', () => {
  it('that is paid for is delivered, and its app hears of it by webhook and mail', async () => {
    const receiver = await startReceiver(status(204));
    await new WebhookFixture(service).create(receiver.url);
    const recorded = await fixture.buy(references.quick);
    expect(recorded).toMatchObject({ type: 'SKU_PURCHASE', status: 'PENDING', skuReference: references.quick });
    const ended = await fixture.ended(recorded.id);
    const ordered = await fixture.providerOrder(recorded.id);
    expect(ordered).toMatchObject({ status: 'completed', delivered: 1 });
    expect(ended).toMatchObject({
      status: 'SUCCESS',
      skuFileNumber: ordered?.fileNumber,
      confirmedAt: expect.any(String),
    });
    expect(ended).not.toHaveProperty('refundStatus');
    const told = (await eventTypesOf(receiver.received, recorded.id, 2)).toSorted(byType);
    expect(told).toMatchObject([
      { type: 'sku-purchase.completed', data: ended },
      { type: 'sku-purchase.processing', data: { status: 'PROCESSING' } },
    ]);
    const [mail, ...others] = await fixture.mails(NOTIFIED, recorded.id, 1);
    expect(others).toEqual([]);
    expect(mail?.subject).toContain('Compra entregada: Totalplay');
    expect(mail?.text).toContain(`Folio: ${ordered?.fileNumber}`);
  });

  it('that its provider refuses has failed for that reason, and its payment is due for refund', async () => {
    const receiver = await startReceiver(status(204));
    await new WebhookFixture(service).create(receiver.url, { eventTypes: ['sku-purchase.failed'] });
    const ended = await fixture.bought(references.failing);
    expect(ended).toMatchObject({
      status: 'FAILED',
      refundStatus: 'DUE',
      failureReason: expect.stringContaining('0000'),
    });
    expect(await eventTypesOf(receiver.received, ended.id, 1)).toMatchObject([
      { type: 'sku-purchase.failed', data: ended },
    ]);
    const [mail] = await fixture.mails(NOTIFIED, ended.id, 1);
    expect(mail?.text).toContain('The payment is due for refund');
    const due = await fixture.app.get('/sku-purchases?refundStatus=DUE');
    expect(due.body).toMatchObject({ data: [{ id: ended.id }] });
  });

  it('that its provider delivers later is PROCESSING until then', async () => {
    await fixture.sandbox.ask('/provider/settings', { slowSeconds: 3 });
    const { id } = await fixture.buy(references.slow);
    expect(await fixture.until(id, ({ status }) => status !== 'PENDING')).toMatchObject({ status: 'PROCESSING' });
    expect(await fixture.ended(id)).toMatchObject({ status: 'SUCCESS' });
    expect(await fixture.providerOrder(id)).toMatchObject({ delivered: 1 });
    await fixture.sandbox.ask('/provider/settings', { slowSeconds: 0 });
  });
});

/** The operator's word waits for an answer of the provider that is under way. */
const unlessAsked = (...words: string[]) =>
  eventually(
    () => admin<unknown>(service, 'purchases', ...words).catch((error: Error) => error),
    (answer) => !(answer instanceof Error && answer.message.includes('being asked')),
  );

describe('a purchase whose provider cannot be reached', () => {
  it(
    'waits, shows in the metrics, and is ended by the operator’s word, which is written down',
    async () => {
      const reference = '5500000001';
      await fixture.sandbox.ask('/provider/faults', { kind: 'unavailable', reference, seconds: 3_600 });
      await fixture.sandbox.ask('/provider/faults', { kind: 'unavailable', request: 'look-up', seconds: 3_600 });
      const [{ id }, { id: other }] = [await fixture.buy(reference), await fixture.buy(reference)];
      for (const one of [id, other]) await fixture.until(one, ({ status }) => status === 'PROCESSING');
      const metrics = (await send(`${service.server.origin}/metrics`)).text;
      expect(metrics).toMatch(/svc_purchases_open\{environment="development",status="PROCESSING"\} [2-9]/);
      expect(metrics).toMatch(/svc_purchases_oldest_processing_seconds\{environment="development"\} [\d.]+/);
      expect(metrics).toMatch(/svc_refunds_open\{environment="development",status="DUE"\} \d/);

      await service.database.db.run(sql`update sku_purchases set paid_at = now() - interval '1 hour' where id = ${id}`);
      const stuck = await admin<readonly { id: string }[]>(service, 'purchases', 'stuck');
      expect(stuck).toContainEqual(expect.objectContaining({ id, status: 'PROCESSING', sku_reference: reference }));
      expect(stuck.map((each) => each.id)).not.toContain(other);
      expect(await unlessAsked('complete', id, 'F-77')).toEqual({ purchase: id, status: 'SUCCESS' });
      expect(await unlessAsked('fail', other, 'The provider is gone.')).toEqual({ purchase: other, status: 'FAILED' });
      await expect(admin(service, 'purchases', 'fail', id, 'too late')).rejects.toThrow(/is SUCCESS/);
      await expect(admin(service, 'purchases', 'complete', id)).rejects.toThrow(/needs a file number/);
      await expect(admin(service, 'purchases', 'cancel', id)).rejects.toThrow(/only one that is PENDING/);
      expect(await fixture.read(id)).toMatchObject({ status: 'SUCCESS', skuFileNumber: 'F-77' });
      expect(await fixture.read(other)).toMatchObject({
        status: 'FAILED',
        failureReason: 'The provider is gone.',
        refundStatus: 'DUE',
      });
      const audited = await service.database.db.rows(sql`
        select target, action, actor from audit_log where target in (${id}, ${other}) order by id`);
      expect(audited).toEqual([
        { target: id, action: 'sku-purchase.completed', actor: 'operator' },
        { target: other, action: 'sku-purchase.failed', actor: 'operator' },
      ]);
      await fixture.sandbox.ask('/provider/faults', undefined, 'DELETE');
    },
    OPERATOR_MS,
  );
});
