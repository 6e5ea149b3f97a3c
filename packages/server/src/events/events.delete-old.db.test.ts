import { sql } from '@svc/store';
import { expect, it } from 'vitest';
import { useWebhooks } from '../../testing/webhooks.ts';
import { deleteOldEvents } from './events.ts';

const fixture = useWebhooks();

const old = sql`now() - interval '91 days'`;
const recent = sql`now() - interval '89 days'`;

async function endAt(event: string, moment: typeof old): Promise<void> {
  await fixture.db.run(sql`update events set created_at = ${moment} where id = ${event}`);
  await fixture.db.run(sql`
    update webhook_deliveries set state = 'DELIVERED', next_attempt_at = null, ended_at = ${moment} where event_id = ${event}`);
}

it('after 90 days ended deliveries, their attempts and their events are forgotten, and what waits is not', async () => {
  const caller = await fixture.caller();
  const { id } = await fixture.create(caller);
  const [gone, kept, waiting] = [
    await fixture.publish(caller),
    await fixture.publish(caller),
    await fixture.publish(caller),
  ];
  await endAt(gone, old);
  await endAt(kept, recent);
  await fixture.db.run(sql`update events set created_at = ${old} where id = ${waiting}`);
  await fixture.db.run(sql`
    insert into webhook_attempts (delivery_id, number, at, duration_ms)
    select id, 1, now(), 1 from webhook_deliveries where event_id = ${gone}`);
  await deleteOldEvents(fixture.db);
  expect((await fixture.deliveries(id)).map(({ event }) => event)).toEqual([kept, waiting]);
  expect(await fixture.db.rows(sql`select id from events order by id`)).toEqual([{ id: kept }, { id: waiting }]);
  expect(await fixture.db.rows(sql`select from webhook_attempts`)).toEqual([]);
});

it('an old event stays for as long as one of its deliveries does', async () => {
  const caller = await fixture.caller();
  const [one, other] = [await fixture.create(caller), await fixture.create(caller)];
  const event = await fixture.publish(caller);
  await endAt(event, old);
  await fixture.db.run(sql`update webhook_deliveries set ended_at = ${recent} where webhook_id = ${other.id}`);
  await deleteOldEvents(fixture.db);
  expect(await fixture.deliveries(one.id)).toEqual([]);
  expect(await fixture.deliveries(other.id)).toMatchObject([{ event }]);
});

it('deleted webhooks go with the last of their deliveries', async () => {
  const caller = await fixture.caller();
  const [empty, used, live] = [
    await fixture.create(caller),
    await fixture.create(caller),
    await fixture.create(caller),
  ];
  const event = await fixture.publish(caller);
  await endAt(event, recent);
  await fixture.db.run(sql`delete from webhook_deliveries where webhook_id = ${empty.id}`);
  await fixture.db.run(sql`update webhooks set deleted_at = ${old} where id in (${empty.id}, ${used.id})`);
  await deleteOldEvents(fixture.db);
  const left = await fixture.db.rows(sql`
    select id from webhooks where organization_id = ${caller.organizationId} order by id`);
  expect(left).toEqual([{ id: used.id }, { id: live.id }]);
});

it('after 90 days what waits at a webhook that is off ends, and no other', async () => {
  const caller = await fixture.caller();
  const [off, on] = [await fixture.create(caller), await fixture.create(caller)];
  const [lost, kept] = [await fixture.publish(caller), await fixture.publish(caller)];
  for (const [event, moment] of [
    [lost, old],
    [kept, recent],
  ] as const) {
    await fixture.db.run(sql`update webhook_deliveries set created_at = ${moment} where event_id = ${event}`);
  }
  await fixture.update(caller, off.id, { isEnabled: false });
  await deleteOldEvents(fixture.db);
  expect(await fixture.deliveries(off.id)).toMatchObject([
    { event: lost, state: 'FAILED', nextAttemptAt: null },
    { event: kept, state: 'WAITING' },
  ]);
  expect(await fixture.deliveries(on.id)).toMatchObject([{ state: 'WAITING' }, { state: 'WAITING' }]);
});

it('older secrets are forgotten when they no longer sign', async () => {
  const caller = await fixture.caller();
  const { id, secret } = await fixture.create(caller);
  const second = await fixture.rotate(caller, id);
  await fixture.rotate(caller, id);
  await fixture.db.run(sql`update webhook_older_secrets set ends_at = now() where secret = ${secret}`);
  await deleteOldEvents(fixture.db);
  const left = await fixture.db.rows(sql`select secret from webhook_older_secrets where webhook_id = ${id}`);
  expect(left).toEqual([{ secret: second.secret }]);
});

it('more than fits into one batch is forgotten at once', async () => {
  const caller = await fixture.caller();
  await fixture.db.run(sql`
    insert into events (id, organization_id, environment, type, subject, data, created_at)
    select 'evt_old_' || n, ${caller.organizationId}, ${caller.environment}, 'sku-purchase.completed', 'old ' || n, '{}', ${old}
      from generate_series(1, 2500) as n`);
  await deleteOldEvents(fixture.db);
  expect(await fixture.db.rows(sql`select from events where organization_id = ${caller.organizationId}`)).toEqual([]);
});
