import { type Reads, sql } from '@svc/store';
import type { TransactionRecord } from './record.ts';
import { fromRow, type Row, recordColumns } from './row.ts';

/** Whosever it is: a job of ours asks, not a caller. */
export async function recordToConfirm(reads: Reads, id: string): Promise<TransactionRecord | undefined> {
  const row = await reads.one<Row>(sql`select ${recordColumns} from transactions where id = ${id}`);
  return row && fromRow(row);
}
