import { type Db, sql } from '@svc/store';
import type { TransactionRecord } from '../transactions/record.ts';
import { changeRecord } from '../transactions/records.ts';
import { doubtSends } from './doubt.ts';

const OTHERWISE = 'The chain took back this transfer, and the transaction was executed again with another outcome.';

/**
 * Takes from records the event that another transfer has by now. An amount is never changed, because people have seen it: those
 * that are not among the `known` failed, and what the chain shows in their place becomes a record of its own. Those of a relay
 * are settled by the relay.
 */
export async function displace(
  tx: Db,
  records: readonly TransactionRecord[],
  known: ReadonlySet<string>,
): Promise<void> {
  if (records.length === 0) return;
  const ids = records.map(({ id }) => id);
  await tx.run(sql`update transactions set event_index = null, updated_at = now() where id = any(${ids})`);
  const gone = records.filter(({ id }) => !known.has(id));
  for (const { id, type } of gone) {
    if (type !== 'RECEIVE') continue;
    await changeRecord(tx, id, { status: 'FAILED', revertReason: OTHERWISE }, { reorganised: true });
  }
  await doubtSends(tx, gone);
}
