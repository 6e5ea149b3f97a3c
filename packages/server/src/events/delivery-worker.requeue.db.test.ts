import { sql } from '@svc/store';
import { beforeEach, describe, expect, it } from 'vitest';
import { useWebhooks } from '../../testing/webhooks.ts';
import { requeueStalledWebhooks } from './delivery-worker.ts';

const fixture = useWebhooks();
beforeEach(() => fixture.deleteJobs());

describe('looking after webhooks', () => {
  it('orders a turn where something is due and none is ordered, also when the last one was given up', async () => {
    const caller = await fixture.caller();
    const [lost, givenUp] = [await fixture.create(caller), await fixture.create(caller)];
    await fixture.publish(caller);
    await fixture.db.run(sql`delete from jobs where key = ${lost.id}`);
    await fixture.db.run(sql`update jobs set failed_at = now() where key = ${givenUp.id}`);
    await requeueStalledWebhooks(fixture.db);
    for (const { id } of [lost, givenUp]) {
      const waiting = await fixture.db.rows(sql`select tenant from jobs where key = ${id} and failed_at is null`);
      expect(waiting).toEqual([{ tenant: caller.organizationId }]);
    }
  });

  it('orders one for deleted webhooks, so that what waits there ends', async () => {
    const caller = await fixture.caller();
    const { id } = await fixture.create(caller);
    await fixture.publish(caller);
    await fixture.delete(caller, id);
    await fixture.deleteJobs();
    await requeueStalledWebhooks(fixture.db);
    expect(await fixture.nextRun(id)).toBeInstanceOf(Date);
  });

  it('orders none where nothing is due, where the webhook is off, and where one runs', async () => {
    const caller = await fixture.caller();
    const [later, off, running] = [
      await fixture.create(caller),
      await fixture.create(caller),
      await fixture.create(caller),
    ];
    await fixture.publish(caller);
    await fixture.update(caller, off.id, { isEnabled: false });
    await fixture.db.run(sql`
      update webhook_deliveries set next_attempt_at = now() + interval '1 hour' where webhook_id = ${later.id}`);
    await fixture.db.run(sql`delete from jobs where key <> ${running.id}`);
    await fixture.db.run(sql`update jobs set worker = 1, started_at = now() where key = ${running.id}`);
    await requeueStalledWebhooks(fixture.db);
    const jobs = await fixture.db.rows<{ key: string }>(
      sql`select key from jobs where key in (${later.id}, ${off.id}, ${running.id})`,
    );
    expect(jobs).toEqual([{ key: running.id }]);
  });
});
