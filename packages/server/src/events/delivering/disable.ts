import { type Db, sql } from '@svc/store';
import { queueMails } from '../../mail/send-mail.ts';
import type { DueDelivery } from './due.ts';

/** The receiver said that it wants nothing more. */
export async function disableGone(tx: Db, { webhookId }: DueDelivery): Promise<void> {
  await tx.run(sql`
    update webhooks set disabled_reason = 'GONE', updated_at = now()
     where id = ${webhookId} and disabled_reason is null and deleted_at is null`);
}

interface Disabled {
  readonly organizationId: string;
  readonly environment: 'production' | 'development';
  readonly url: string;
  readonly failingSince: Date;
  readonly recipient: string | null;
}

/** A delivery was tried for the last time: where nothing else came through since its first attempt, nothing will. */
export async function disableFailing(tx: Db, { id, webhookId }: DueDelivery): Promise<void> {
  const disabled = await tx.one<Disabled>(sql`
    update webhooks set disabled_reason = 'FAILING', updated_at = now()
      from environments as home
     where webhooks.id = ${webhookId} and disabled_reason is null and deleted_at is null
       and failing_since <= (select at from webhook_attempts where delivery_id = ${id} and number = 1)
       and home.organization_id = webhooks.organization_id and home.environment = webhooks.environment
    returning webhooks.organization_id as "organizationId", webhooks.environment, url,
              failing_since as "failingSince", home.notification_email as recipient`);
  if (!disabled || disabled.recipient === null) return;
  const { organizationId, environment, url, failingSince, recipient } = disabled;
  // The host alone: paths and queries of such addresses hold secrets at times.
  const content = { webhookId, host: new URL(url).host, failingSince: failingSince.toISOString() };
  await queueMails(tx, [{ organizationId, environment, recipient, template: 'webhook-disabled', content }]);
}
