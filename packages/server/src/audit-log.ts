import type { AuditEntry, Environment } from '@svc/protocol';
import { type Db, type Reads, sql } from '@svc/store';
import { newId } from './util/ids.ts';

export interface Actor {
  readonly organizationId: string;
  readonly environment: Environment;
  /** A key id, `member:<id>`, `operator` (with `:` and an e-mail address where it is known), or `service` for what happens without a request. */
  readonly keyId: string;
  /** Preferred over the public key, which is no proof. */
  readonly secretKeyId?: string | undefined;
  readonly member?: { readonly email: string };
}

/** Who acts: at the command line it is not known by name. */
export type OperatorName = 'operator' | `operator:${string}`;

export function operatorOf(organizationId: string, environment: Environment, name: OperatorName = 'operator'): Actor {
  return { organizationId, environment, keyId: name };
}

/** Stands for the organisation in the log of what the operator does that concerns none, such as an account of the service. */
export const DEPLOYMENT = 'deployment';

export function serviceOf(organizationId: string, environment: Environment): Actor {
  return { organizationId, environment, keyId: 'service' };
}

export interface Change {
  /** Such as `webhook.created`. */
  readonly action: string;
  readonly target?: string | undefined;
  /** New values. Never a secret, such as a gift's code, and never a recipient. */
  readonly changes: Readonly<Record<string, unknown>>;
}

export async function recordChange(
  tx: Db,
  { organizationId, environment, keyId, secretKeyId, member }: Actor,
  { action, target, changes }: Change,
): Promise<void> {
  await insertAuditEntry(tx, {
    id: newId('aud'),
    organizationId,
    environment,
    actor: secretKeyId ?? keyId,
    actorName: member?.email,
    action,
    target: target ?? null,
    changes,
  });
}

export async function listChanges(
  db: Reads,
  owner: { readonly organizationId: string; readonly environment: Environment },
  page: { readonly limit: number; readonly offset: number },
): Promise<{ entries: AuditEntry[]; total: number }> {
  const { rows, total } = await listAuditEntries(db, owner, page);
  const entries = rows.map(({ created_at, actor_name, ...entry }) => ({
    ...entry,
    actorName: actor_name,
    createdAt: created_at.toISOString(),
  }));
  return { entries, total };
}

export interface NewAuditEntry {
  readonly id: string;
  readonly organizationId: string;
  readonly environment: Environment;
  readonly actor: string;
  readonly actorName?: string | undefined;
  readonly action: string;
  readonly target: string | null;
  readonly changes: Readonly<Record<string, unknown>>;
}

export async function insertAuditEntry(tx: Db, entry: NewAuditEntry): Promise<void> {
  await tx.run(sql`
    insert into audit_log (id, organization_id, environment, actor, actor_name, action, target, changes)
    values (${entry.id}, ${entry.organizationId}, ${entry.environment}, ${entry.actor}, ${entry.actorName ?? null},
            ${entry.action}, ${entry.target}, ${JSON.stringify(entry.changes)}::jsonb)`);
}

export interface AuditRow {
  readonly id: string;
  readonly action: string;
  readonly target: string | null;
  readonly actor: string;
  readonly actor_name: string | null;
  readonly changes: Record<string, unknown>;
  readonly created_at: Date;
}

export async function listAuditEntries(
  db: Reads,
  { organizationId, environment }: Pick<NewAuditEntry, 'organizationId' | 'environment'>,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ rows: AuditRow[]; total: number }> {
  const matching = sql`from audit_log where organization_id = ${organizationId} and environment = ${environment}`;
  const [rows, count] = await Promise.all([
    db.rows<AuditRow>(sql`
      select id, action, target, actor, actor_name, changes, created_at ${matching}
      order by id desc limit ${page.limit} offset ${page.offset}`),
    db.one<{ total: bigint }>(sql`select count(*) as total ${matching}`),
  ]);
  return { rows, total: Number(count?.total ?? 0n) };
}
