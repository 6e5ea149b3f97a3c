import type { endpoints } from '@svc/protocol';
import { sql } from '@svc/store';
import { recordChange } from '../../audit/record-change.ts';
import type { Answer, Call } from '../../http/call.ts';
import { enqueuePumps } from '../pump-job.ts';
import { toChanges } from './to-changes.ts';
import { lockWebhook } from './webhook.ts';

type DeleteWebhook = typeof endpoints.deleteWebhook;

/** Nothing more is sent to it; its secrets go at once, and the pump ends what waits for it. */
export function deleteWebhook({ caller, params, transact }: Call<DeleteWebhook>): Promise<Answer<DeleteWebhook>> {
  return transact(async (tx) => {
    const { id, url } = await lockWebhook(tx, caller, params.id);
    await tx.run(sql`
      update webhooks
         set deleted_at = now(), updated_at = now(), secret = ''
       where id = ${id}`);
    await tx.run(sql`delete from webhook_older_secrets where webhook_id = ${id}`);
    await enqueuePumps(tx, [id]);
    await recordChange(tx, caller, { action: 'webhook.deleted', target: id, changes: toChanges({ url }) });
    return { success: true };
  });
}
