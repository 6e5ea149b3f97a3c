import type { Environment } from '@svc/protocol';
import { type Db, sql } from '@svc/store';

export interface NewAuditEntry {
  readonly id: string;
  readonly organizationId: string;
  readonly environment: Environment;
  readonly actor: string;
  readonly action: string;
  readonly target: string | null;
  readonly changes: Readonly<Record<string, unknown>>;
}

export async function insertAuditEntry(tx: Db, entry: NewAuditEntry): Promise<void> {
  await tx.run(sql`
    insert into audit_log (id, organization_id, environment, actor, action, target, changes)
    values (${entry.id}, ${entry.organizationId}, ${entry.environment}, ${entry.actor}, ${entry.action}, ${entry.target},
            ${JSON.stringify(entry.changes)}::jsonb)`);
}

export interface AuditRow {
  readonly id: string;
  readonly action: string;
  readonly target: string | null;
  readonly actor: string;
  readonly changes: Record<string, unknown>;
  readonly created_at: Date;
}

/** Newest first. */
export async function listAuditEntries(
  db: Db,
  { organizationId, environment }: Pick<NewAuditEntry, 'organizationId' | 'environment'>,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ rows: AuditRow[]; total: number }> {
  const matching = sql`from audit_log where organization_id = ${organizationId} and environment = ${environment}`;
  const [rows, count] = await Promise.all([
    db.rows<AuditRow>(sql`
      select id, action, target, actor, changes, created_at ${matching}
      order by id desc limit ${page.limit} offset ${page.offset}`),
    db.one<{ total: bigint }>(sql`select count(*) as total ${matching}`),
  ]);
  return { rows, total: Number(count?.total ?? 0n) };
}
