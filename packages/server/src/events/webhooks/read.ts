import type { endpoints, Webhook } from '@svc/protocol';
import { type Db, type Reads, sql } from '@svc/store';
import type { Call } from '../../http/call.ts';
import { type PageOf, readPage, toPage } from '../../http/pages.ts';
import { findWebhook, ownedBy, toWebhook, type WebhookOwner, type WebhookRecord, webhookColumns } from './webhook.ts';

type ListWebhooks = typeof endpoints.listWebhooks;

export async function getWebhook(reads: Reads, owner: WebhookOwner, id: string): Promise<Webhook> {
  return toWebhook(await findWebhook(reads, owner, id));
}

/** Newest first, which the ids are in by themselves. */
export async function listWebhooks(
  db: Db,
  owner: WebhookOwner,
  query: Call<ListWebhooks>['query'],
): Promise<PageOf<Webhook>> {
  const page = readPage(query);
  const [webhooks, count] = await Promise.all([
    db.rows<WebhookRecord>(sql`
      select ${webhookColumns} from webhooks where ${ownedBy(owner)}
       order by id desc limit ${page.limit} offset ${page.offset}`),
    db.one<{ total: bigint }>(sql`select count(*) as total from webhooks where ${ownedBy(owner)}`),
  ]);
  return toPage(webhooks.map(toWebhook), Number(count?.total ?? 0n), page);
}
