import { ApiError } from '@svc/protocol';
import { type Db, sql } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { whileOpen } from '../../testing/database.ts';
import { useWebhooks } from '../../testing/webhooks.ts';
import type { Caller } from '../http/call.ts';
import { MAX_REPLAYED } from './deliveries.ts';

const fixture = useWebhooks();

const codeOf = (asked: Promise<unknown>): Promise<unknown> =>
  asked.then(
    (value) => value,
    (error: unknown) => (error instanceof ApiError ? error.code : error),
  );

/** Three events, delivered, an hour apart, the last one an hour ago. */
async function withHistory(): Promise<{ caller: Caller; id: string; events: string[] }> {
  const caller = await fixture.caller();
  const { id } = await fixture.create(caller);
  const events: string[] = [];
  for (let made = 0; made < 3; made++) events.push(await fixture.publish(caller));
  for (const [place, event] of events.entries()) {
    await fixture.db.run(sql`
      update events set created_at = now() - make_interval(hours => ${3 - place}) where id = ${event}`);
  }
  await end(id);
  return { caller, id, events };
}

async function end(webhookId: string): Promise<void> {
  await fixture.db.run(sql`
    update webhook_deliveries set state = 'DELIVERED', attempts = 1, next_attempt_at = null, ended_at = now()
     where webhook_id = ${webhookId}`);
  await fixture.deleteJobs();
}

const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
const waitingAt = async (id: string) =>
  (await fixture.deliveries(id)).filter(({ state }) => state === 'WAITING').map(({ event }) => event);

describe('a replay', () => {
  it('of one event is a new delivery of it, and leaves the earlier one as it was', async () => {
    const { caller, id, events } = await withHistory();
    const before = await fixture.deliveries(id);
    expect(await fixture.replay(caller, id, { eventId: events[1] ?? '' })).toBe(1);
    const after = await fixture.deliveries(id);
    expect(after.slice(0, 3)).toEqual(before);
    expect(after.slice(3)).toMatchObject([{ event: events[1], state: 'WAITING', attempts: 0 }]);
    expect(await fixture.nextRun(id)).toBeInstanceOf(Date);
  });

  it.each([
    ['from', { from: hoursAgo(2.5) }, [1, 2]],
    ['from and to', { from: hoursAgo(3.5), to: hoursAgo(1.5) }, [0, 1]],
    ['a time in which nothing happened', { from: hoursAgo(0.5) }, []],
  ])('of %s delivers what happened then, the oldest first', async (_, range, places) => {
    const { caller, id, events } = await withHistory();
    expect(await fixture.replay(caller, id, range)).toBe(places.length);
    expect(await waitingAt(id)).toEqual(places.map((place) => events[place]));
  });

  it('of an event that is still on its way sends it at once, and not twice', async () => {
    const { caller, id } = await withHistory();
    const event = await fixture.publish(caller);
    const hour = sql`now() + interval '1 hour'`;
    await fixture.db.run(sql`update webhook_deliveries set next_attempt_at = ${hour} where event_id = ${event}`);
    expect(await fixture.replay(caller, id, { eventId: event })).toBe(1);
    const rows = (await fixture.deliveries(id)).filter((row) => row.event === event);
    expect(rows).toHaveLength(1);
    expect(rows[0]?.nextAttemptAt?.getTime()).toBeLessThan(Date.now() + 60_000);
  });

  it('that is asked for twice at once makes no more wait than has happened', async () => {
    const { caller, id, events } = await withHistory();
    const range = { from: hoursAgo(4) };
    const first = (tx: Db) => fixture.replay(caller, id, range, tx);
    expect(await whileOpen(fixture.db, first, () => fixture.replay(caller, id, range))).toBe(3);
    expect(await waitingAt(id)).toEqual(events);
  });

  it('of a time brings what the webhook wants, of its own environment, and no tests', async () => {
    const { caller, id } = await withHistory();
    const failed = await fixture.publish(caller, { type: 'sku-purchase.failed' });
    await fixture.publish({ ...caller, environment: 'production' }, { type: 'sku-purchase.failed' });
    await fixture.publish(await fixture.caller(), { type: 'sku-purchase.failed' });
    await fixture.test(caller, id);
    await fixture.update(caller, id, { eventTypes: ['sku-purchase.failed', 'webhook.test'] });
    await end(id);
    expect(await fixture.replay(caller, id, { from: hoursAgo(4) })).toBe(1);
    expect(await waitingAt(id)).toEqual([failed]);
  });

  it('takes ten thousand events at a time, the oldest, and says where the next begin', async () => {
    const caller = await fixture.caller();
    const { id } = await fixture.create(caller);
    await fixture.db.run(sql`
      insert into events (id, organization_id, environment, type, subject, data, created_at)
      select 'evt_many_' || lpad(n::text, 6, '0'), ${caller.organizationId}, ${caller.environment}, 'sku-purchase.completed',
             'many ' || n, '{}', timestamptz '2026-01-01Z' + n * interval '1 second' + interval '999 microseconds'
        from generate_series(1, ${MAX_REPLAYED + 5}) as n`);
    const { replayed, nextFrom } = await fixture.replayed(caller, id, { from: '2026-01-01' });
    expect(replayed).toBe(MAX_REPLAYED);
    const kept = await fixture.db.one(sql`
      select count(*)::integer as count, min(event_id) as first, max(event_id) as last
        from webhook_deliveries where webhook_id = ${id}`);
    expect(kept).toEqual({ count: MAX_REPLAYED, first: 'evt_many_000001', last: 'evt_many_010000' });
    expect(nextFrom).toBe('2026-01-01T02:46:41.000Z');
    expect(await fixture.replayed(caller, id, { from: nextFrom ?? '' })).toEqual({ replayed: 5, nextFrom: null });
    const all = await fixture.db.one(sql`
      select count(distinct event_id)::integer as count from webhook_deliveries where webhook_id = ${id}`);
    expect(all).toEqual({ count: MAX_REPLAYED + 5 });
  });

  it('is written down with what was asked for by known names', async () => {
    const { caller, id, events } = await withHistory();
    const [eventId = ''] = events;
    const [from, unknown] = ['2026-01-01', { secret: 'whsec_hidden' }];
    await fixture.replay(caller, id, { eventId, ...unknown });
    await fixture.replay(caller, id, { from, ...unknown });
    const log = await fixture.db.rows(sql`
      select changes from audit_log
       where organization_id = ${caller.organizationId} and action = 'webhook.replayed' order by id`);
    expect(log).toEqual([{ changes: { eventId, replayed: 1 } }, { changes: { from, replayed: 3 } }]);
  });

  it('needs one event or a time, and a time that goes forward', async () => {
    const { caller, id, events } = await withHistory();
    const [eventId = ''] = events;
    const bad = [{}, { eventId, from: hoursAgo(1) }, { to: hoursAgo(1) }, { eventId, to: hoursAgo(1) }];
    const backwards = [{ from: hoursAgo(1), to: hoursAgo(2) }, { from: '2026-02-30' }];
    for (const body of [...bad, ...backwards]) {
      expect(await codeOf(Promise.resolve().then(() => fixture.replay(caller, id, body)))).toBe('invalid_request');
    }
    expect(await waitingAt(id)).toEqual([]);
  });

  it("of another organisation's event, or of none, finds nothing", async () => {
    const { caller, id } = await withHistory();
    const foreign = await fixture.publish(await fixture.caller());
    const production = await fixture.publish({ ...caller, environment: 'production' });
    for (const eventId of [foreign, production, 'evt_nothing']) {
      expect(await codeOf(fixture.replay(caller, id, { eventId }))).toBe('event_not_found');
    }
  });

  it('to a webhook that is off is refused, as is a test', async () => {
    const { caller, id, events } = await withHistory();
    await fixture.update(caller, id, { isEnabled: false });
    expect(await codeOf(fixture.replay(caller, id, { eventId: events[0] ?? '' }))).toBe('webhook_disabled');
    expect(await codeOf(Promise.resolve(fixture.test(caller, id)))).toBe('webhook_disabled');
    expect(await waitingAt(id)).toEqual([]);
  });

  it('sends gift events to webhooks that name them only', async () => {
    const caller = await fixture.caller();
    const [all, naming] = [
      await fixture.create(caller),
      await fixture.create(caller, { eventTypes: ['gift.redeemed'] }),
    ];
    const eventId = await fixture.publish(caller, { type: 'gift.redeemed' });
    expect(await fixture.replay(caller, all.id, { from: '2020-01-01' })).toBe(0);
    await expect(fixture.replay(caller, all.id, { eventId })).rejects.toMatchObject({ code: 'event_not_found' });
    expect(await fixture.replay(caller, naming.id, { eventId })).toBe(1);
  });
});
