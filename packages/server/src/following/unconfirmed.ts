import { type Db, sql } from '@svc/store';
import { recordToConfirm } from '../transactions/record-to-confirm.ts';
import { changeRecord } from '../transactions/records.ts';
import type { Follower } from './follower.ts';
import { holdCursor } from './store.ts';

/** A transaction whose block was taken back waits for a new one, and mostly gets it within seconds. */
export const RETURN_MS = 60_000;
/** A transaction of the database stays short; the rest comes with the next run. */
const MAX_FAILED_AT_ONCE = 500;

const GONE = 'The chain took back the block of this transfer, and it did not come again.';

export interface Unconfirmed {
  readonly id: string;
  readonly blockNumber: number;
}

export async function markUnconfirmed(
  tx: Db,
  chainId: string,
  records: readonly Unconfirmed[],
  since: Date,
): Promise<void> {
  const ids = records.map(({ id }) => id);
  const numbers = records.map(({ blockNumber }) => blockNumber);
  await tx.run(sql`
    insert into unconfirmed_receives (transaction_id, chain_id, block_number, since)
    select id, ${chainId}, number, ${since} from unnest(${ids}::text[], ${numbers}::bigint[]) as record (id, number)
    on conflict (transaction_id) do nothing`);
}

export async function forgetUnconfirmed(tx: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.run(sql`delete from unconfirmed_receives where transaction_id = any(${ids})`);
}

/** What has not come again although the chain has been followed past its place. Should it come later, it is a success again. */
export async function failUnconfirmed({ db, chainId, now }: Follower): Promise<void> {
  const before = new Date(now() - RETURN_MS);
  await db.tx(async (tx) => {
    const cursor = await holdCursor(tx, chainId);
    if (!cursor) return;
    const gone = await tx.rows<{ transaction_id: string }>(sql`
      delete from unconfirmed_receives where transaction_id in (
        select transaction_id from unconfirmed_receives
         where chain_id = ${chainId} and since <= ${before} and block_number <= ${cursor.number}
         order by since limit ${MAX_FAILED_AT_ONCE})
      returning transaction_id`);
    for (const { transaction_id: id } of gone) {
      // Its sender may have reported it meanwhile, and then it is looked after as what it is now.
      if ((await recordToConfirm(tx, id))?.type !== 'RECEIVE') continue;
      await changeRecord(tx, id, { status: 'FAILED', revertReason: GONE }, { reorganised: true });
    }
  });
}
