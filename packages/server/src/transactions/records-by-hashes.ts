import type { Environment } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { type Reads, sql } from '@svc/store';
import type { TransactionRecord } from './record.ts';
import { fromRow, type Row, recordColumns } from './row.ts';

/** A page of events has a thousand transactions, each with a few records; the bound only ends what has gone wild. */
const MAX_RECORDS = 100_000;

/** What the history has of many transactions, of all organisations. A purchase tells of no transfer and is not among them. */
export async function recordsByHashes(
  reads: Reads,
  environment: Environment,
  hashes: Iterable<bigint>,
): Promise<TransactionRecord[]> {
  const texts = [...new Set(hashes)].map(toHex);
  if (texts.length === 0) return [];
  const rows = await reads.rows<Row>(sql`
    select ${recordColumns} from transactions
     where transaction_hash = any(${texts}) and chain = 'STARKNET' and environment = ${environment}
       and type <> 'SKU_PURCHASE'
     order by transaction_hash, call_index, event_index, id limit ${MAX_RECORDS}`);
  return rows.map(fromRow);
}
