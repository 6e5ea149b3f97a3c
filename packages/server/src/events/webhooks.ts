import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { ApiError, type Environment, type EventType, type endpoints, type Webhook } from '@svc/protocol';
import { type Database, type Db, type Reads, sql } from '@svc/store';
import { recordChange } from '../audit-log.ts';
import { type Answer, type Call, type PageOf, readPage, toPage } from '../http/call.ts';
import { faultOfTenantUrl, type TenantUrlOptions } from '../outbound/address-guard.ts';
import { SECRET_PREFIX } from '../outbound/webhook-signature.ts';
import { newId } from '../util/ids.ts';
import { enqueueDeliveries } from './events.ts';

export interface WebhookDeps {
  readonly db: Database;
  readonly loopbackEnvironments: readonly Environment[];
}

export interface WebhookOwner {
  readonly organizationId: string;
  readonly environment: Environment;
}

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

/** Another organisation's webhook is not found. */
export async function findWebhook(db: Reads, owner: WebhookOwner, id: string): Promise<WebhookRecord> {
  const found = await db.one<WebhookRecord>(sql`
    select ${webhookColumns} from webhooks where id = ${id} and ${ownedBy(owner)}`);
  if (!found) throw new ApiError('webhook_not_found');
  return found;
}

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

type CreateWebhook = typeof endpoints.createWebhook;

/** Every event is stored and sent once for each. */
export const MAX_WEBHOOKS = 20;

export async function createWebhook(
  deps: WebhookDeps,
  { caller, body, transact }: Call<CreateWebhook>,
): Promise<Answer<CreateWebhook>> {
  const { url, description = null, eventTypes = null } = body;
  checkWebhookUrl(url, optionsFor(deps, caller));
  const [id, secret] = [newId('whk'), newSecret()];
  return transact(async (tx) => {
    await requireBelowLimit(tx, caller);
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

/** Locks the environment, so that two concurrent calls are counted one after the other. */
async function requireBelowLimit(tx: Db, owner: WebhookOwner): Promise<void> {
  await tx.run(sql`
    select from environments
     where organization_id = ${owner.organizationId} and environment = ${owner.environment} for no key update`);
  const counted = await tx.one<{ count: bigint }>(sql`select count(*) from webhooks where ${ownedBy(owner)}`);
  if ((counted?.count ?? 0n) >= MAX_WEBHOOKS) throw new ApiError('webhook_limit_reached');
}

type UpdateWebhook = typeof endpoints.updateWebhook;
type UpdateBody = Call<UpdateWebhook>['body'];

/** Deliveries that wait continue when the webhook is enabled again. */
export async function updateWebhook(
  deps: WebhookDeps,
  { caller, params, body, transact }: Call<UpdateWebhook>,
): Promise<Answer<UpdateWebhook>> {
  if (body.url !== undefined) checkWebhookUrl(body.url, optionsFor(deps, caller));
  return transact(async (tx) => {
    const before = await lockWebhook(tx, caller, params.id);
    const changes = differences(before, body);
    if (Object.keys(changes).length === 0) return toWebhook(before);
    const { url, description, eventTypes } = { ...before, ...changes };
    const disabledReason = reasonAfter(before.disabledReason, body.isEnabled);
    const clearsFailures = url !== before.url || disabledReason !== before.disabledReason;
    const changed = await tx.one<WebhookRecord>(sql`
      update webhooks
         set url = ${url}, description = ${description}, event_types = ${eventTypes}, disabled_reason = ${disabledReason},
             failing_since = case when ${clearsFailures} then null else failing_since end, updated_at = now()
       where id = ${before.id}
      returning ${webhookColumns}`);
    if (!changed) throw new Error('A webhook that was changed is not there.');
    if (disabledReason === null && before.disabledReason !== null)
      await enqueueDeliveries(tx, [{ id: before.id, organizationId: caller.organizationId }]);
    await recordChange(tx, caller, { action: 'webhook.updated', target: before.id, changes: toChanges(changes) });
    return toWebhook(changed);
  });
}

function differences(before: WebhookRecord, body: UpdateBody): UpdateBody {
  const { url, description, eventTypes, isEnabled } = toWebhook(before);
  const present = Object.entries({ url, description, eventTypes, isEnabled }) as [keyof UpdateBody, unknown][];
  const names = present.filter(([name, value]) => body[name] !== undefined && !isDeepStrictEqual(body[name], value));
  return Object.fromEntries(names.map(([name]) => [name, body[name]]));
}

/** Disabling again keeps the first reason. */
function reasonAfter(
  before: WebhookRecord['disabledReason'],
  isEnabled: boolean | undefined,
): WebhookRecord['disabledReason'] {
  if (isEnabled === undefined) return before;
  return isEnabled ? null : (before ?? 'BY_HAND');
}

type DeleteWebhook = typeof endpoints.deleteWebhook;

/** Secrets are deleted at once; the delivery job ends what waits. */
export function deleteWebhook({ caller, params, transact }: Call<DeleteWebhook>): Promise<Answer<DeleteWebhook>> {
  return transact(async (tx) => {
    const { id, url } = await lockWebhook(tx, caller, params.id);
    await tx.run(sql`
      update webhooks
         set deleted_at = now(), updated_at = now(), secret = ''
       where id = ${id}`);
    await tx.run(sql`delete from webhook_older_secrets where webhook_id = ${id}`);
    await enqueueDeliveries(tx, [{ id, organizationId: caller.organizationId }]);
    await recordChange(tx, caller, { action: 'webhook.deleted', target: id, changes: toChanges({ url }) });
    return { success: true };
  });
}

type ListWebhooks = typeof endpoints.listWebhooks;

export async function getWebhook(reads: Reads, owner: WebhookOwner, id: string): Promise<Webhook> {
  return toWebhook(await findWebhook(reads, owner, id));
}

export async function listWebhooks(
  db: Reads,
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

type RotateWebhookSecret = typeof endpoints.rotateWebhookSecret;

const OVERLAP_SECONDS = 86_400;

/** Covers repeated rotations after lost answers; each secret adds a signature to every request. */
const MAX_OLDER_SECRETS = 3;

/** Older secrets sign until their own end. */
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
    await storeOlderSecret(tx, id, overlapSeconds);
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

async function storeOlderSecret(tx: Db, id: string, overlapSeconds: number): Promise<void> {
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

/** The length of an HMAC-SHA-256. */
const SECRET_BYTES = 32;

export function newSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

const optionsFor = ({ loopbackEnvironments }: WebhookDeps, { environment }: WebhookOwner): TenantUrlOptions => ({
  allowLoopback: loopbackEnvironments.includes(environment),
});

export function checkWebhookUrl(text: string, { allowLoopback }: TenantUrlOptions): void {
  const fault = faultOfTenantUrl(text, { allowLoopback });
  if (fault) throw new ApiError('invalid_webhook_url', `body.url ${fault}.`);
}

interface WebhookChanges {
  readonly url?: string | undefined;
  readonly [name: string]: unknown;
}

/** The audit log is permanent: of a URL it gets the host, because path and query may contain secrets. */
export function toChanges({ url, ...changes }: WebhookChanges): Record<string, unknown> {
  return { ...(url !== undefined && { host: new URL(url).host }), ...changes };
}
