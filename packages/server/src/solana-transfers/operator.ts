import { type Db, type Reads, sql } from '@svc/store';
import { type OperatorName, operatorOf, recordChange } from '../audit-log.ts';
import { enqueue } from '../jobs/job.ts';
import { databaseTime } from '../relayer/relay-store.ts';
import {
  addFacts,
  changeTransfer,
  followJob,
  lockTransfer,
  resumptions,
  type TransferRow,
  transferColumns,
} from './transfer.ts';

export type Resumption =
  | { readonly ok: true; readonly status: TransferRow['status'] }
  | { readonly ok: false; readonly isMissing?: true; readonly reason: string };

/** Follows the one burn again. All timeouts begin anew. */
export async function resumeTransfer(tx: Db, id: string, operator?: OperatorName): Promise<Resumption> {
  const row = await lockTransfer(tx, sql`id = ${id}`);
  if (!row) return { ok: false, isMissing: true, reason: 'No transfer to Solana has this id.' };
  const to = row.facts.message === undefined ? 'BRIDGING' : 'ATTESTED';
  if (!resumptions[row.status].includes(to)) {
    return { ok: false, reason: `This transfer is ${row.status}; only one that is stuck can be resumed.` };
  }
  await changeTransfer(tx, id, { to, besides: resumptions });
  await addFacts(tx, id, { since: (await databaseTime(tx)).toISOString(), renewals: 0 });
  await enqueue(tx, followJob(row));
  await recordChange(tx, operatorOf(row.organizationId, row.environment, operator), {
    action: 'solana-transfer.resumed',
    target: id,
    changes: { status: to },
  });
  return { ok: true, status: to };
}

export interface StuckTransfer extends TransferRow {
  readonly organizationName: string;
}

export function stuckTransfers(reads: Reads, limit: number): Promise<StuckTransfer[]> {
  return reads.rows<StuckTransfer>(sql`
    select stuck.*, organizations.name as "organizationName"
      from (select ${transferColumns} from solana_transfers where status = 'STUCK') as stuck
      join organizations on organizations.id = stuck."organizationId"
     order by stuck."createdAt", stuck.id limit ${limit}`);
}

export async function countStuckTransfers(reads: Reads): Promise<number> {
  const row = await reads.one<{ count: number }>(sql`
    select count(*)::integer as count from solana_transfers where status = 'STUCK'`);
  return row?.count ?? 0;
}
