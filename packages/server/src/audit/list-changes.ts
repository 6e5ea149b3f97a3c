import type { AuditEntry, Environment } from '@svc/protocol';
import type { Db } from '@svc/store';
import { listAuditEntries } from './store.ts';

/** What was changed in an environment, newest first. */
export async function listChanges(
  db: Db,
  owner: { readonly organizationId: string; readonly environment: Environment },
  page: { readonly limit: number; readonly offset: number },
): Promise<{ entries: AuditEntry[]; total: number }> {
  const { rows, total } = await listAuditEntries(db, owner, page);
  const entries = rows.map(({ created_at, ...entry }) => ({ ...entry, createdAt: created_at.toISOString() }));
  return { entries, total };
}
