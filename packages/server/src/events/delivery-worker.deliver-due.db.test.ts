import { sql } from '@svc/store';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { silent } from '../../testing/jobs.ts';
import { type Behaviour, type Receiver, status } from '../../testing/receiver.ts';
import { startReceiver, useWebhooks } from '../../testing/webhooks.ts';
import type { Caller } from '../http/call.ts';
import { guardOfTenants, publicOnly } from '../outbound/address-guard.ts';
import { type DeliveryDeps, deliverDue, MAX_IN_FLIGHT } from './delivery-worker.ts';

const fixture = useWebhooks();
const never = { signal: new AbortController().signal };
const deps = (changes: Partial<DeliveryDeps> = {}): DeliveryDeps => ({
  db: fixture.db,
  guard: () => publicOnly({ allowLoopback: true }),
  log: silent,
  random: () => 0,
  ...changes,
});

interface Side {
  readonly caller: Caller;
  readonly id: string;
  readonly receiver: Receiver;
}

/** A webhook whose receiver behaves like that. */
async function opened(behave?: Behaviour): Promise<Side> {
  const [caller, receiver] = [await fixture.caller(), await startReceiver(behave)];
  const { id } = await fixture.create(caller, { url: receiver.url });
  return { caller, id, receiver };
}

it('does not reach this machine from production where only development may', async () => {
  const guard = guardOfTenants(['development']);
  for (const [environment, reached] of [
    ['development', 1],
    ['production', 0],
  ] as const) {
    const [caller, receiver] = [await fixture.caller(environment), await startReceiver()];
    const { id } = await fixture.create(caller, { url: receiver.url });
    await fixture.publish(caller);
    await deliverDue(deps({ guard }), id, never);
    expect(receiver.received, environment).toHaveLength(reached);
  }
});

async function publishMany({ caller }: Side, count: number): Promise<string[]> {
  const events: string[] = [];
  for (let made = 0; made < count; made++) events.push(await fixture.publish(caller));
  return events;
}

const statesOf = async ({ id }: Side) => (await fixture.deliveries(id)).map(({ state, attempts }) => [state, attempts]);
const idsOf = ({ received }: Receiver) => received.map(({ headers }) => headers['webhook-id']);

describe('the pump', () => {
  it('sends everything that is due, a few at a time, and orders no more turns when nothing waits', async () => {
    const side = await opened();
    const events = await publishMany(side, 25);
    await fixture.deleteJobs();
    await deliverDue(deps(), side.id, never);
    expect(idsOf(side.receiver).toSorted()).toEqual(events);
    expect(await statesOf(side)).toEqual(Array(25).fill(['DELIVERED', 1]));
    expect(side.receiver.mostOpen()).toBeLessThanOrEqual(MAX_IN_FLIGHT);
    expect(await fixture.nextRun(side.id)).toBeUndefined();
  });

  it('keeps what is not due for its time, and orders the next turn for then', async () => {
    const side = await opened(status(500));
    await fixture.publish(side.caller);
    await fixture.deleteJobs();
    await deliverDue(deps(), side.id, never);
    expect(side.receiver.received).toHaveLength(1);
    const [waiting] = await fixture.deliveries(side.id);
    expect(waiting).toMatchObject({ state: 'WAITING', attempts: 1 });
    expect(await fixture.nextRun(side.id)).toEqual(waiting?.nextAttemptAt);
  });

  it.each([-3_600_000, 3_600_000])('goes by the clock of the database, though its own is %i ms off', async (offMs) => {
    const side = await opened(status(500));
    await fixture.publish(side.caller);
    await fixture.deleteJobs();
    const now = Date.now() + offMs;
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => now);
    onTestFinished(() => clock.mockRestore());
    await deliverDue(deps(), side.id, never);
    const [waiting] = await fixture.deliveries(side.id);
    expect(await fixture.nextRun(side.id)).toEqual(waiting?.nextAttemptAt);
  });

  it('goes along the whole schedule with a receiver that never accepts, ten attempts, and each is kept', async () => {
    const side = await opened(status(500));
    await fixture.publish(side.caller);
    const pauses: number[] = [];
    for (let turn = 0; turn < 10; turn++) {
      await fixture.makeDue(side.id);
      await deliverDue(deps(), side.id, never);
      const row = await fixture.db.one<{ seconds: number | null }>(sql`
        select extract(epoch from next_attempt_at - now())::float8 as seconds from webhook_deliveries
         where webhook_id = ${side.id}`);
      if (row?.seconds != null) pauses.push(Math.ceil(row.seconds));
    }
    expect(pauses).toEqual([5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]);
    expect(await statesOf(side)).toEqual([['FAILED', 10]]);
    const kept = await fixture.db.rows(sql`
      select number, status from webhook_attempts join webhook_deliveries on id = delivery_id
       where webhook_id = ${side.id} order by number`);
    expect(kept).toEqual(Array.from({ length: 10 }, (_, place) => ({ number: place + 1, status: 500 })));
  });

  it('sends an event that comes while an earlier one hangs', async () => {
    let isFirst = true;
    const side = await opened((response) => {
      if (!isFirst) response.writeHead(204).end();
      isFirst = false;
    });
    await fixture.publish(side.caller);
    const interruption = new AbortController();
    const pumping = deliverDue(deps(), side.id, interruption);
    await side.receiver.until(1);
    await fixture.publish(side.caller);
    await side.receiver.until(2);
    interruption.abort(new Error('The process stops.'));
    await expect(pumping).rejects.toThrow('The process stops.');
  });

  it('ends its turn with a receiver that does not answer, and has what is left go behind those who wait', async () => {
    const side = await opened(() => undefined);
    await publishMany(side, 10);
    await fixture.db.run(
      sql`update webhook_deliveries set next_attempt_at = '2020-01-01' where webhook_id = ${side.id}`,
    );
    await fixture.deleteJobs();
    const before = Date.now();
    await deliverDue(deps({ timeoutMs: 200 }), side.id, never);
    expect(side.receiver.received).toHaveLength(MAX_IN_FLIGHT);
    const turn = await fixture.nextRun(side.id);
    expect(turn?.getTime()).toBeGreaterThanOrEqual(before);
    expect(turn?.getTime()).toBeLessThan(before + 60_000);
  });

  it('that is interrupted leaves what was under way due, and counts no attempt', async () => {
    const interruption = new AbortController();
    const side = await opened(() => interruption.abort(new Error('The process stops.')));
    await publishMany(side, 2);
    await expect(deliverDue(deps(), side.id, interruption)).rejects.toThrow('The process stops.');
    expect(await statesOf(side)).toEqual(Array(2).fill(['WAITING', 0]));
  });

  it('that is interrupted before it begins sends nothing, and leaves its turn to another', async () => {
    const side = await opened();
    await fixture.publish(side.caller);
    const interrupted = AbortSignal.abort(new Error('The process stops.'));
    await expect(deliverDue(deps(), side.id, { signal: interrupted })).rejects.toThrow('The process stops.');
    expect(side.receiver.received).toEqual([]);
  });

  it('leaves alone what waits at a webhook that is switched off, until it is on again', async () => {
    const side = await opened();
    await publishMany(side, 3);
    await fixture.update(side.caller, side.id, { isEnabled: false });
    await fixture.deleteJobs();
    await deliverDue(deps(), side.id, never);
    expect([side.receiver.received.length, await fixture.nextRun(side.id)]).toEqual([0, undefined]);
    await fixture.update(side.caller, side.id, { isEnabled: true });
    expect(await fixture.nextRun(side.id)).toBeInstanceOf(Date);
    await deliverDue(deps(), side.id, never);
    expect(await statesOf(side)).toEqual(Array(3).fill(['DELIVERED', 1]));
  });

  it('ends what waits at a deleted webhook, and sends none of it', async () => {
    const side = await opened();
    await publishMany(side, 3);
    await fixture.delete(side.caller, side.id);
    await deliverDue(deps(), side.id, never);
    expect(side.receiver.received).toEqual([]);
    expect(await statesOf(side)).toEqual(Array(3).fill(['FAILED', 0]));
  });

  it('stops at 410: the webhook is switched off, and the others of its deliveries wait', async () => {
    const side = await opened(status(410));
    await publishMany(side, MAX_IN_FLIGHT + 3);
    await fixture.deleteJobs();
    await deliverDue(deps(), side.id, never);
    const states = await statesOf(side);
    expect(states.filter(([state]) => state === 'FAILED').length).toBeLessThanOrEqual(MAX_IN_FLIGHT);
    expect(states.filter(([state]) => state === 'WAITING').length).toBeGreaterThanOrEqual(3);
    expect(await fixture.db.one(sql`select disabled_reason as reason from webhooks where id = ${side.id}`)).toEqual({
      reason: 'GONE',
    });
    expect(await fixture.nextRun(side.id)).toBeUndefined();
  });

  it('signs with a secret as soon as it is new, and with the old one until its time is over', async () => {
    const side = await opened();
    const signatures = () => side.receiver.received.at(-1)?.headers['webhook-signature']?.toString().split(' ').length;
    const send = async () => {
      await fixture.publish(side.caller);
      await deliverDue(deps(), side.id, never);
      return signatures();
    };
    expect(await send()).toBe(1);
    await fixture.rotate(side.caller, side.id, { overlapSeconds: 60 });
    expect(await send()).toBe(2);
    await fixture.db.run(sql`update webhook_older_secrets set ends_at = now() where webhook_id = ${side.id}`);
    expect(await send()).toBe(1);
  });
});
