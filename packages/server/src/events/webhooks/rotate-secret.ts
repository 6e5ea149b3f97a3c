import type { endpoints } from '@svc/protocol';
import { type Db, sql } from '@svc/store';
import { recordChange } from '../../audit/record-change.ts';
import type { Answer, Call } from '../../http/call.ts';
import { newSecret } from './secret.ts';
import { lockWebhook, toWebhook, type WebhookRecord, webhookColumns } from './webhook.ts';

type RotateWebhookSecret = typeof endpoints.rotateWebhookSecret;

/** A day is enough for most deployments of a receiver. */
const OVERLAP_SECONDS = 86_400;

/**
 * Who loses an answer rotates again, and meanwhile the receiver has the secret from before both. More of them would be a slip that
 * repeats itself, and every one makes each delivery's headers longer.
 */
const MAX_OLDER_SECRETS = 3;

/** A new secret. The one before it signs as well for a while; so do earlier ones until their own time is over. */
export function rotateWebhookSecret({
  caller,
  params,
  body,
  transact,
}: Call<RotateWebhookSecret>): Promise<Answer<RotateWebhookSecret>> {
  const { overlapSeconds = OVERLAP_SECONDS } = body;
  const secret = newSecret();
  return transact(async (tx) => {
    const { id } = await lockWebhook(tx, caller, params.id);
    await keepOlderSecrets(tx, id, overlapSeconds);
    const changed = await tx.one<WebhookRecord>(sql`
      update webhooks
         set secret = ${secret}, updated_at = now()
       where id = ${id}
      returning ${webhookColumns}`);
    if (!changed) throw new Error('A webhook that was changed is not there.');
    await recordChange(tx, caller, { action: 'webhook.secret-rotated', target: id, changes: { overlapSeconds } });
    return { ...toWebhook(changed), secret };
  });
}

/** Puts the present secret to the older ones, which keep their ends; without an overlap, all of them end now. */
async function keepOlderSecrets(tx: Db, id: string, overlapSeconds: number): Promise<void> {
  if (overlapSeconds === 0) {
    await tx.run(sql`delete from webhook_older_secrets where webhook_id = ${id}`);
    return;
  }
  await tx.run(sql`
    insert into webhook_older_secrets (webhook_id, secret, ends_at)
    select id, secret, now() + make_interval(secs => ${overlapSeconds}) from webhooks where id = ${id}`);
  await tx.run(sql`
    delete from webhook_older_secrets
     where webhook_id = ${id} and id not in (
       select id from webhook_older_secrets where webhook_id = ${id} and ends_at > now()
        order by id desc limit ${MAX_OLDER_SECRETS})`);
}
