import { isDeepStrictEqual } from 'node:util';
import type { endpoints } from '@svc/protocol';
import { sql } from '@svc/store';
import { recordChange } from '../../audit/record-change.ts';
import type { Answer, Call } from '../../http/call.ts';
import type { WebhookParts } from '../parts.ts';
import { enqueuePumps } from '../pump-job.ts';
import { checkWebhookUrl } from './check-url.ts';
import { toChanges } from './to-changes.ts';
import { lockWebhook, toWebhook, type WebhookRecord, webhookColumns } from './webhook.ts';

type UpdateWebhook = typeof endpoints.updateWebhook;
type UpdateBody = Call<UpdateWebhook>['body'];

/**
 * Changes a webhook. What waits for it goes on from where it stopped when it is switched on again. What is the same as before is no
 * change.
 */
export async function updateWebhook(
  parts: WebhookParts,
  { caller, params, body, transact }: Call<UpdateWebhook>,
): Promise<Answer<UpdateWebhook>> {
  if (body.url !== undefined) checkWebhookUrl(body.url, parts);
  return transact(async (tx) => {
    const before = await lockWebhook(tx, caller, params.id);
    const changes = differences(before, body);
    if (Object.keys(changes).length === 0) return toWebhook(before);
    const { url, description, eventTypes } = { ...before, ...changes };
    const disabledReason = reasonAfter(before.disabledReason, body.isEnabled);
    // Another address, or one that somebody has mended, begins with a clean record.
    const forgetsFailures = url !== before.url || disabledReason !== before.disabledReason;
    const changed = await tx.one<WebhookRecord>(sql`
      update webhooks
         set url = ${url}, description = ${description}, event_types = ${eventTypes}, disabled_reason = ${disabledReason},
             failing_since = case when ${forgetsFailures} then null else failing_since end, updated_at = now()
       where id = ${before.id}
      returning ${webhookColumns}`);
    if (!changed) throw new Error('A webhook that was changed is not there.');
    if (disabledReason === null && before.disabledReason !== null) await enqueuePumps(tx, [before.id]);
    await recordChange(tx, caller, { action: 'webhook.updated', target: before.id, changes: toChanges(changes) });
    return toWebhook(changed);
  });
}

/** By the names that can be changed: others may stand beside them, and mean nothing. */
function differences(before: WebhookRecord, body: UpdateBody): UpdateBody {
  const { url, description, eventTypes, isEnabled } = toWebhook(before);
  const held = Object.entries({ url, description, eventTypes, isEnabled }) as [keyof UpdateBody, unknown][];
  const names = held.filter(([name, value]) => body[name] !== undefined && !isDeepStrictEqual(body[name], value));
  return Object.fromEntries(names.map(([name]) => [name, body[name]]));
}

/** Switching off what is off already keeps the first reason. */
function reasonAfter(
  before: WebhookRecord['disabledReason'],
  isEnabled: boolean | undefined,
): WebhookRecord['disabledReason'] {
  if (isEnabled === undefined) return before;
  return isEnabled ? null : (before ?? 'BY_HAND');
}
