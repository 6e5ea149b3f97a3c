import { ApiError, type Environment, type EventType, type Webhook } from '@svc/protocol';
import { type Db, type Reads, sql } from '@svc/store';

export interface WebhookOwner {
  readonly organizationId: string;
  readonly environment: Environment;
}

/** A webhook as it is shown. */
export interface WebhookRecord {
  readonly id: string;
  readonly url: string;
  readonly description: string | null;
  readonly eventTypes: EventType[] | null;
  readonly disabledReason: 'BY_HAND' | 'GONE' | 'FAILING' | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export const webhookColumns = sql`id, url, description, event_types as "eventTypes", disabled_reason as "disabledReason",
  created_at as "createdAt", updated_at as "updatedAt"`;

export const ownedBy = ({ organizationId, environment }: WebhookOwner) =>
  sql`organization_id = ${organizationId} and environment = ${environment} and deleted_at is null`;

/** Of somebody else, it is as if there were none. */
export async function findWebhook(db: Reads, owner: WebhookOwner, id: string): Promise<WebhookRecord> {
  const found = await db.one<WebhookRecord>(sql`
    select ${webhookColumns} from webhooks where id = ${id} and ${ownedBy(owner)}`);
  if (!found) throw new ApiError('webhook_not_found');
  return found;
}

/** Nobody else changes it until the transaction ends. Deliveries to it can be stored meanwhile. */
export async function lockWebhook(tx: Db, owner: WebhookOwner, id: string): Promise<WebhookRecord> {
  const found = await tx.one<WebhookRecord>(sql`
    select ${webhookColumns} from webhooks where id = ${id} and ${ownedBy(owner)} for no key update`);
  if (!found) throw new ApiError('webhook_not_found');
  return found;
}

export function toWebhook({ createdAt, updatedAt, ...webhook }: WebhookRecord): Webhook {
  return {
    ...webhook,
    isEnabled: webhook.disabledReason === null,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}
