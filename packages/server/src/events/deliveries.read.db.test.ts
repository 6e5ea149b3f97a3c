import { type Db, type Sql, sql } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { useWebhooks } from '../../testing/webhooks.ts';
import { getDelivery, listDeliveries } from './deliveries.ts';
import { listEvents } from './events.ts';

const fixture = useWebhooks();

describe('deliveries', () => {
  it('are listed newest first, by state and by event', async () => {
    const caller = await fixture.caller();
    const { id } = await fixture.create(caller);
    const events = [await fixture.publish(caller), await fixture.publish(caller), await fixture.publish(caller)];
    const [first, second] = await fixture.deliveries(id);
    await fixture.db.run(sql`
      update webhook_deliveries set state = 'FAILED', next_attempt_at = null, ended_at = now() where id = ${first?.id}`);
    await fixture.db.run(sql`
      update webhook_deliveries set state = 'DELIVERED', next_attempt_at = null, ended_at = now() where id = ${second?.id}`);
    const listed = async (query: Parameters<typeof listDeliveries>[3]) => {
      const { data, total } = await listDeliveries(fixture.db, caller, id, query);
      expect(total).toBe(data.length);
      return data.map(({ eventId }) => eventId);
    };
    expect(await listed({})).toEqual(events.toReversed());
    expect(await listed({ state: 'FAILED' })).toEqual([events[0]]);
    expect(await listed({ state: 'DELIVERED' })).toEqual([events[1]]);
    expect(await listed({ state: 'WAITING' })).toEqual([events[2]]);
    expect(await listed({ eventId: events[1] ?? '' })).toEqual([events[1]]);
    expect(await listed({ eventId: events[1] ?? '', state: 'FAILED' })).toEqual([]);
  });

  it('of a test say what they are, and go to that webhook alone', async () => {
    const caller = await fixture.caller();
    const [tested, other] = [
      await fixture.create(caller, { eventTypes: ['sku-purchase.failed'] }),
      await fixture.create(caller),
    ];
    const delivery = await fixture.test(caller, tested.id);
    expect(delivery).toMatchObject({ eventType: 'webhook.test', state: 'WAITING', attempts: 0, endedAt: null });
    expect(await listDeliveries(fixture.db, caller, tested.id, {})).toMatchObject({ data: [delivery] });
    expect(await fixture.deliveries(other.id)).toEqual([]);
    expect(await fixture.nextRun(tested.id)).toBeInstanceOf(Date);
  });

  it('show every attempt, and only to those whose they are', async () => {
    const [caller, stranger] = [await fixture.caller(), await fixture.caller()];
    const [one, other] = [await fixture.create(caller), await fixture.create(caller)];
    await fixture.publish(caller);
    const deliveryId = (await fixture.deliveries(one.id))[0]?.id ?? '';
    for (const number of [2, 1]) {
      await fixture.db.run(sql`
        insert into webhook_attempts (delivery_id, number, at, duration_ms, status, error, response)
        values (${deliveryId}, ${number}, '2026-11-16T10:00:00Z', 7, 500, 'The address answered 500.', 'no')`);
    }
    const shown = await getDelivery(fixture.db, caller, { id: one.id, deliveryId });
    expect(shown.event).toMatchObject({ id: shown.eventId, type: shown.eventType, data: { skuFileNumber: 'Ñ-1' } });
    expect(shown.attemptsMade.map(({ number }) => number)).toEqual([1, 2]);
    expect(shown.attemptsMade[0]).toEqual({
      ...{ number: 1, at: '2026-11-16T10:00:00.000Z', durationMs: 7, status: 500 },
      ...{ error: 'The address answered 500.', response: 'no' },
    });
    const missing = { code: 'delivery_not_found' };
    await expect(getDelivery(fixture.db, caller, { id: other.id, deliveryId })).rejects.toMatchObject(missing);
    await expect(getDelivery(fixture.db, caller, { id: one.id, deliveryId: 'dlv_x' })).rejects.toMatchObject(missing);
    const unknown = { code: 'webhook_not_found' };
    await expect(getDelivery(fixture.db, stranger, { id: one.id, deliveryId })).rejects.toMatchObject(unknown);
    await expect(listDeliveries(fixture.db, stranger, one.id, {})).rejects.toMatchObject(unknown);
  });
});

it('events of a type are found by an index, however many there are of others', async () => {
  const caller = await fixture.caller();
  await fixture.db.run(sql`
    insert into events (id, organization_id, environment, type, subject, data)
    select 'evt_type_' || n, ${caller.organizationId}, ${caller.environment},
           case when n % 1000 = 0 then 'sku-purchase.failed' else 'sku-purchase.completed' end, 'type ' || n, '{}'
      from generate_series(1, 5000) as n`);
  await fixture.db.run(sql`analyze events`);
  const plans: string[] = [];
  const explaining = {
    ...fixture.db,
    one: async (query: Sql) => {
      plans.push(JSON.stringify(await fixture.db.rows(sql`explain ${query}`)));
      return fixture.db.one(query);
    },
  } as Db;
  expect(await listEvents(explaining, caller, { type: 'sku-purchase.failed' })).toMatchObject({ total: 5 });
  expect(plans.join()).toContain('events_type');
});

it('events are listed newest first, by type, for their own environment', async () => {
  const caller = await fixture.caller();
  const first = await fixture.publish(caller, { data: { id: 'txn', big: '90071992547409931' } });
  const second = await fixture.publish(caller, { type: 'sku-purchase.failed' });
  await fixture.publish({ ...caller, environment: 'production' });
  const { data, total } = await listEvents(fixture.db, caller, {});
  expect([data.map(({ id }) => id), total]).toEqual([[second, first], 2]);
  expect(data[1]).toMatchObject({ type: 'sku-purchase.completed', data: { big: '90071992547409931' } });
  const failed = await listEvents(fixture.db, caller, { type: 'sku-purchase.failed' });
  expect([failed.data.map(({ id }) => id), failed.total]).toEqual([[second], 1]);
});
