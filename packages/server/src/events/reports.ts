import { type Reads, sql } from '@svc/store';

interface Row {
  readonly environment: string;
  readonly due: number;
  readonly oldestSeconds: number;
}

interface DisabledRow {
  readonly environment: string;
  readonly reason: string;
  readonly webhooks: number;
}

/** What an operator sets an alarm on: deliveries that are due and not sent; and which webhooks were switched off, and why. */
export function webhookGauges(reads: Reads) {
  return [
    {
      name: 'svc_webhook_deliveries_due',
      help: 'Deliveries to webhooks that are due and not sent yet',
      labelNames: ['environment'],
      read: async () => (await dueOf(reads)).map(({ environment, due }) => ({ labels: { environment }, value: due })),
    },
    {
      name: 'svc_webhook_deliveries_oldest_due_seconds',
      help: 'For how long the oldest of them has been due',
      labelNames: ['environment'],
      read: async () =>
        (await dueOf(reads)).map(({ environment, oldestSeconds }) => ({
          labels: { environment },
          value: oldestSeconds,
        })),
    },
    {
      name: 'svc_webhooks_disabled',
      help: 'Webhooks that are switched off, by reason',
      labelNames: ['environment', 'reason'],
      read: async () =>
        (await disabledOf(reads)).map(({ environment, reason, webhooks }) => ({
          labels: { environment, reason },
          value: webhooks,
        })),
    },
  ];
}

function dueOf(reads: Reads): Promise<Row[]> {
  return reads.rows<Row>(sql`
    select environment, count(*)::integer as due,
           extract(epoch from now() - min(next_attempt_at))::float8 as "oldestSeconds"
      from webhooks join webhook_deliveries on webhook_id = webhooks.id
     where state = 'WAITING' and next_attempt_at <= now() and disabled_reason is null and deleted_at is null
     group by environment`);
}

function disabledOf(reads: Reads): Promise<DisabledRow[]> {
  return reads.rows<DisabledRow>(sql`
    select environment, disabled_reason as reason, count(*)::integer as webhooks from webhooks
     where disabled_reason is not null and deleted_at is null
     group by environment, disabled_reason`);
}
