import { sql } from '@svc/store';
import { beforeEach, describe, expect, it } from 'vitest';
import { webhookHouse } from '../../testing/webhooks.ts';
import { lookAfterWebhooks } from './delivery-worker.ts';

const house = webhookHouse();
beforeEach(() => house.forgetTurns());

describe('looking after webhooks', () => {
  it('orders a turn where something is due and none is ordered, also when the last one was given up', async () => {
    const caller = await house.caller();
    const [lost, givenUp] = [await house.create(caller), await house.create(caller)];
    await house.publish(caller);
    await house.db.run(sql`delete from jobs where key = ${lost.id}`);
    await house.db.run(sql`update jobs set failed_at = now() where key = ${givenUp.id}`);
    await lookAfterWebhooks(house.db);
    for (const { id } of [lost, givenUp]) {
      const waiting = await house.db.rows(sql`select from jobs where key = ${id} and failed_at is null`);
      expect(waiting).toHaveLength(1);
    }
  });

  it('orders one for deleted webhooks, so that what waits there ends', async () => {
    const caller = await house.caller();
    const { id } = await house.create(caller);
    await house.publish(caller);
    await house.delete(caller, id);
    await house.forgetTurns();
    await lookAfterWebhooks(house.db);
    expect(await house.turn(id)).toBeInstanceOf(Date);
  });

  it('orders none where nothing is due, where the webhook is off, and where one runs', async () => {
    const caller = await house.caller();
    const [later, off, running] = [await house.create(caller), await house.create(caller), await house.create(caller)];
    await house.publish(caller);
    await house.update(caller, off.id, { isEnabled: false });
    await house.db.run(sql`
      update webhook_deliveries set next_attempt_at = now() + interval '1 hour' where webhook_id = ${later.id}`);
    await house.db.run(sql`delete from jobs where key <> ${running.id}`);
    await house.db.run(sql`update jobs set worker = 1, started_at = now() where key = ${running.id}`);
    await lookAfterWebhooks(house.db);
    const jobs = await house.db.rows<{ key: string }>(
      sql`select key from jobs where key in (${later.id}, ${off.id}, ${running.id})`,
    );
    expect(jobs).toEqual([{ key: running.id }]);
  });
});
