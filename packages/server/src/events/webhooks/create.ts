import { ApiError, type endpoints } from '@svc/protocol';
import { type Db, sql } from '@svc/store';
import { recordChange } from '../../audit/record-change.ts';
import type { Answer, Call } from '../../http/call.ts';
import { newId } from '../../ids.ts';
import type { WebhookParts } from '../parts.ts';
import { checkWebhookUrl } from './check-url.ts';
import { newSecret } from './secret.ts';
import { toChanges } from './to-changes.ts';
import { ownedBy, toWebhook, type WebhookOwner, type WebhookRecord, webhookColumns } from './webhook.ts';

type CreateWebhook = typeof endpoints.createWebhook;

/** Every event is stored and sent once for each of them. */
export const MAX_WEBHOOKS = 20;

/** Adds an address for events, with a secret that is shown this once. */
export async function createWebhook(
  parts: WebhookParts,
  { caller, body, transact }: Call<CreateWebhook>,
): Promise<Answer<CreateWebhook>> {
  const { url, description = null, eventTypes = null } = body;
  checkWebhookUrl(url, parts);
  const [id, secret] = [newId('whk'), newSecret()];
  return transact(async (tx) => {
    await requireRoom(tx, caller);
    const stored = await tx.one<WebhookRecord>(sql`
      insert into webhooks (id, organization_id, environment, url, description, event_types, secret)
      values (${id}, ${caller.organizationId}, ${caller.environment}, ${url}, ${description}, ${eventTypes}, ${secret})
      returning ${webhookColumns}`);
    if (!stored) throw new Error('A webhook that was stored is not there.');
    await recordChange(tx, caller, {
      action: 'webhook.created',
      target: id,
      changes: toChanges({ url, description, eventTypes }),
    });
    return { ...toWebhook(stored), secret };
  });
}

/** The environment is locked, so that two at once are counted one after the other. */
async function requireRoom(tx: Db, owner: WebhookOwner): Promise<void> {
  await tx.run(sql`
    select from environments
     where organization_id = ${owner.organizationId} and environment = ${owner.environment} for no key update`);
  const counted = await tx.one<{ count: bigint }>(sql`select count(*) from webhooks where ${ownedBy(owner)}`);
  if ((counted?.count ?? 0n) >= MAX_WEBHOOKS) throw new ApiError('webhook_limit_reached');
}
