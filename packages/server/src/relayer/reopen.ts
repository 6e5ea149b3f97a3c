import type { Environment } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { type Db, type Sql, sql } from '@svc/store';
import { enqueueMany } from '../jobs/enqueue.ts';
import { tenderJob } from './tender-job.ts';

export interface Reopened {
  readonly id: string;
  readonly environment: Environment;
  /** Undefined where a paymaster sends. */
  readonly account: string | undefined;
}

/**
 * The blocks above this one are gone: what stood in them is under way again, until the chain shows how it ends now. A
 * relay whose block is still there ends the same way once more.
 */
export function reopenRelays(tx: Db, chainId: bigint, aboveBlock: number): Promise<Reopened[]> {
  return reopen(tx, chainId, sql`block_number > ${aboveBlock}`);
}

export async function reopen(tx: Db, chainId: bigint, which: Sql): Promise<Reopened[]> {
  const rows = await tx.rows<{ id: string; environment: Environment; account: string | null }>(sql`
    update relays
       set state = 'SENT', block_number = null, block_hash = null, revert_reason = null, first_since = null,
           missing_since = null, refused_since = null, looked_at = null, updated_at = now()
     where chain_id = ${toHex(chainId)} and (state in ('SUCCEEDED', 'REVERTED', 'VOIDED') or looked_at is not null) and ${which}
    returning id, environment, account`);
  const accounts = new Map(rows.flatMap(({ account, environment }) => (account ? [[account, environment]] : [])));
  await enqueueMany(
    tx,
    [...accounts].map(([account, environment]) => tenderJob(environment, chainId, account)),
  );
  return rows.map((row) => ({ ...row, account: row.account ?? undefined }));
}
