import { sql } from '@svc/store';
import { expect, it } from 'vitest';
import { webhookHouse } from '../../testing/webhooks.ts';
import { webhookGauges } from './module.ts';

const house = webhookHouse();

async function read(name: string) {
  const gauge = webhookGauges(house.db.reads).find((one) => one.name === name);
  return (await gauge?.read()) ?? [];
}

it('what is due and not sent is counted by environment, what waits for its time or for its webhook is not', async () => {
  const [caller, production] = [await house.caller(), await house.caller('production')];
  const [live, off] = [await house.create(caller), await house.create(caller)];
  const other = await house.create(production);
  for (let made = 0; made < 3; made++) await house.publish(caller);
  await house.publish(production);
  await house.db.run(sql`
    update webhook_deliveries set next_attempt_at = now() - interval '90 seconds' where webhook_id = ${live.id}`);
  await house.db.run(sql`
    update webhook_deliveries set next_attempt_at = now() + interval '1 hour' where webhook_id = ${other.id}`);
  await house.update(caller, off.id, { isEnabled: false });
  expect(await read('svc_webhook_deliveries_due')).toEqual([{ labels: { environment: 'development' }, value: 3 }]);
  const [oldest] = await read('svc_webhook_deliveries_oldest_due_seconds');
  expect(oldest?.value).toBeGreaterThanOrEqual(90);
  expect(await read('svc_webhooks_disabled')).toEqual([
    { labels: { environment: 'development', reason: 'BY_HAND' }, value: 1 },
  ]);
});
