import { sql } from '@svc/store';
import { expect, it } from 'vitest';
import { useWebhooks } from '../../testing/webhooks.ts';
import { webhookGauges } from './module.ts';

const fixture = useWebhooks();

async function read(name: string) {
  const gauge = webhookGauges(fixture.db.reads).find((one) => one.name === name);
  return (await gauge?.read()) ?? [];
}

it('what is due and not sent is counted by environment, what waits for its time or for its webhook is not', async () => {
  const [caller, production] = [await fixture.caller(), await fixture.caller('production')];
  const [live, off] = [await fixture.create(caller), await fixture.create(caller)];
  const other = await fixture.create(production);
  for (let made = 0; made < 3; made++) await fixture.publish(caller);
  await fixture.publish(production);
  await fixture.db.run(sql`
    update webhook_deliveries set next_attempt_at = now() - interval '90 seconds' where webhook_id = ${live.id}`);
  await fixture.db.run(sql`
    update webhook_deliveries set next_attempt_at = now() + interval '1 hour' where webhook_id = ${other.id}`);
  await fixture.update(caller, off.id, { isEnabled: false });
  expect(await read('svc_webhook_deliveries_due')).toEqual([{ labels: { environment: 'development' }, value: 3 }]);
  const [oldest] = await read('svc_webhook_deliveries_oldest_due_seconds');
  expect(oldest?.value).toBeGreaterThanOrEqual(90);
  expect(await read('svc_webhooks_disabled')).toEqual([
    { labels: { environment: 'development', reason: 'BY_HAND' }, value: 1 },
  ]);
});
