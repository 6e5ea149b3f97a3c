import { sql } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { useWebhooks } from '../../testing/webhooks.ts';
import type { Caller } from '../http/call.ts';
import type { Attempt, AttemptResult, DueDelivery } from './delivery-attempt.ts';
import { endDeletedDeliveries, findDue, storeAttempt } from './delivery-worker.ts';

const fixture = useWebhooks();
const NOW = Date.UTC(2026, 10, 16);
const HOUR_MS = 3_600_000;

const attemptOf = (result: AttemptResult, hours: number): Attempt => ({
  made: {
    ...{ at: new Date(NOW + hours * HOUR_MS), durationMs: 5, status: result.state === 'DELIVERED' ? 200 : 500 },
    ...{ error: result.state === 'DELIVERED' ? null : 'The address answered 500.', response: '' },
  },
  result,
  timedOut: false,
});
const delivered = (hours: number) => attemptOf({ state: 'DELIVERED' }, hours);
const failed = (hours: number) => attemptOf({ state: 'WAITING', delayMs: 0 }, hours);
const gone = (hours: number) => attemptOf({ state: 'FAILED', cause: 'GONE' }, hours);
const usedUp = (hours: number) => attemptOf({ state: 'FAILED', cause: 'USED_UP' }, hours);

/** A delivery that is due now; it is the only one. */
async function dueOf(webhookId: string): Promise<DueDelivery> {
  const [found] = await findDue(fixture.db, webhookId, { except: [], limit: 1 });
  if (!found) throw new Error('Nothing is due.');
  return found;
}

async function fresh(): Promise<{ caller: Caller; id: string }> {
  const caller = await fixture.caller();
  await fixture.db.run(sql`
    update environments set notification_email = 'ops@tienda.example'
     where organization_id = ${caller.organizationId} and environment = ${caller.environment}`);
  const { id } = await fixture.create(caller, { url: 'https://hooks.example/T0/secret?token=abc' });
  await fixture.publish(caller);
  return { caller, id };
}

const stateOf = (id: string) =>
  fixture.db.one<{ reason: string | null; failingSince: Date | null }>(sql`
    select disabled_reason as reason, failing_since as "failingSince" from webhooks where id = ${id}`);
const mailsOf = ({ organizationId }: Caller) =>
  fixture.db.rows<{ template: string; recipient: string; content: object }>(sql`
    select template, recipient, content from mails where organization_id = ${organizationId}`);

describe('an attempt', () => {
  it('counts once, even when two processes have made it', async () => {
    const { id } = await fresh();
    const due = await dueOf(id);
    await Promise.all([storeAttempt(fixture.db, due, failed(0)), storeAttempt(fixture.db, due, delivered(0))]);
    await storeAttempt(fixture.db, due, usedUp(0));
    const [row] = await fixture.deliveries(id);
    expect(row?.attempts).toBe(1);
    const kept = await fixture.db.rows(sql`select from webhook_attempts where delivery_id = ${due.id}`);
    expect(kept).toHaveLength(1);
    expect(await stateOf(id)).toMatchObject({ reason: null });
  });

  it('of a delivery that has ended meanwhile changes nothing', async () => {
    const { caller, id } = await fresh();
    const due = await dueOf(id);
    await storeAttempt(fixture.db, due, delivered(0));
    const before = [await fixture.deliveries(id), await stateOf(id)];
    for (const late of [failed(1), usedUp(1), gone(1)]) {
      await storeAttempt(fixture.db, due, late);
    }
    expect([await fixture.deliveries(id), await stateOf(id)]).toEqual(before);
    expect(await mailsOf(caller)).toEqual([]);
  });

  it('that was under way when its webhook was deleted changes nothing', async () => {
    const { caller, id } = await fresh();
    const due = await dueOf(id);
    await fixture.delete(caller, id);
    await endDeletedDeliveries(fixture.db, id);
    await storeAttempt(fixture.db, due, delivered(0));
    expect(await fixture.deliveries(id)).toMatchObject([{ state: 'FAILED', attempts: 0 }]);
  });
});

describe('a webhook at which a delivery has used up its attempts', () => {
  it('is disabled when nothing came through since its first attempt, and its organisation gets a mail', async () => {
    const { caller, id } = await fresh();
    await storeAttempt(fixture.db, await dueOf(id), failed(0));
    await storeAttempt(fixture.db, await dueOf(id), failed(5));
    expect(await stateOf(id)).toEqual({ reason: null, failingSince: new Date(NOW) });
    await storeAttempt(fixture.db, await dueOf(id), usedUp(80));
    expect(await stateOf(id)).toMatchObject({ reason: 'FAILING' });
    expect(await mailsOf(caller)).toEqual([
      {
        template: 'webhook-disabled',
        recipient: 'ops@tienda.example',
        content: { webhookId: id, host: 'hooks.example', failingSince: new Date(NOW).toISOString() },
      },
    ]);
  });

  it('is switched off without a mail where there is no address for it', async () => {
    const { caller, id } = await fresh();
    await fixture.db.run(sql`
      update environments set notification_email = null where organization_id = ${caller.organizationId}`);
    await storeAttempt(fixture.db, await dueOf(id), usedUp(0));
    expect([await stateOf(id), await mailsOf(caller)]).toMatchObject([{ reason: 'FAILING' }, []]);
  });

  it('stays on when another delivery came through meanwhile', async () => {
    const { caller, id } = await fresh();
    const first = await dueOf(id);
    await storeAttempt(fixture.db, first, failed(0));
    await fixture.publish(caller);
    const [other] = await findDue(fixture.db, id, { except: [first.id], limit: 1 });
    if (other) await storeAttempt(fixture.db, other, delivered(1));
    expect(await stateOf(id)).toMatchObject({ failingSince: null });
    await storeAttempt(fixture.db, await dueOf(id), usedUp(80));
    expect(await stateOf(id)).toEqual({ reason: null, failingSince: new Date(NOW + 80 * HOUR_MS) });
    expect(await mailsOf(caller)).toEqual([]);
  });

  it('sends one mail when several deliveries end at once', async () => {
    const { caller, id } = await fresh();
    for (let more = 0; more < 3; more++) await fixture.publish(caller);
    const due = await findDue(fixture.db, id, { except: [], limit: 4 });
    await Promise.all(due.map((delivery) => storeAttempt(fixture.db, delivery, usedUp(0))));
    expect(await mailsOf(caller)).toHaveLength(1);
  });
});

describe('an attempt at an address that the webhook has left meanwhile', () => {
  /** One attempt is under way, then the address changes. */
  async function moved() {
    const { caller, id } = await fresh();
    const due = await dueOf(id);
    await fixture.update(caller, id, { url: 'https://new.example/' });
    return { caller, id, due };
  }

  it.each([
    ['gone', gone(0)],
    ['failing for the last time', usedUp(0)],
    ['failing', attemptOf({ state: 'WAITING', delayMs: 10 * HOUR_MS }, 0)],
  ])('that is %s says nothing of the new one, which gets the delivery at once', async (_, late) => {
    const { caller, id, due } = await moved();
    await storeAttempt(fixture.db, due, late);
    expect(await stateOf(id)).toEqual({ reason: null, failingSince: null });
    expect(await dueOf(id)).toMatchObject({ id: due.id, url: 'https://new.example/', attempts: 1 });
    expect(await mailsOf(caller)).toEqual([]);
    const kept = await fixture.db.rows(sql`select number from webhook_attempts where delivery_id = ${due.id}`);
    expect(kept).toEqual([{ number: 1 }]);
  });

  it('ends the delivery when it has arrived, and does not make the new one well', async () => {
    const { id, due } = await moved();
    await fixture.db.run(sql`update webhooks set failing_since = ${new Date(NOW)} where id = ${id}`);
    await storeAttempt(fixture.db, due, delivered(1));
    expect(await fixture.deliveries(id)).toMatchObject([{ state: 'DELIVERED' }]);
    expect(await stateOf(id)).toEqual({ reason: null, failingSince: new Date(NOW) });
  });

  it('leaves a new one that was switched off as it is', async () => {
    const { caller, id, due } = await moved();
    await fixture.update(caller, id, { isEnabled: false });
    await storeAttempt(fixture.db, due, gone(0));
    expect(await stateOf(id)).toMatchObject({ reason: 'BY_HAND' });
    expect(await fixture.deliveries(id)).toMatchObject([{ state: 'WAITING', attempts: 1 }]);
  });
});
