import { type Db, type Sql, sql } from '@svc/store';
import type { EventRow } from './rows.ts';

export interface EventFilter {
  /** Above the first version, up to the last one. */
  readonly versions: { readonly above: number; readonly upTo: number };
  readonly addresses: readonly string[];
  /** For each position the keys that fit; none means any. */
  readonly keys: readonly (readonly string[])[];
  /** The place of the last event of the page before. */
  readonly after: { readonly version: number; readonly index: number } | undefined;
  readonly limit: number;
}

export interface FoundEvent extends EventRow {
  readonly transaction_hash: string;
  readonly transaction_index: number;
  readonly block_number: number;
  readonly block_hash: string | null;
}

export function findEvents(db: Db, filter: EventFilter): Promise<FoundEvent[]> {
  const { above, upTo } = filter.versions;
  let where = sql`e.version > ${above} and e.version <= ${upTo}`;
  if (filter.addresses.length > 0) where = sql`${where} and e.from_address = any(${filter.addresses})`;
  for (const [position, keys] of filter.keys.entries()) {
    if (keys.length > 0) where = sql`${where} and ${keyAt(position)} = any(${keys})`;
  }
  if (filter.after) where = sql`${where} and (e.version, e.index) > (${filter.after.version}, ${filter.after.index})`;
  return db.rows<FoundEvent>(sql`
    select e.version, e.index, e.from_address, e.keys, e.data,
           t.hash as transaction_hash, t.index as transaction_index, t.block_number, b.hash as block_hash
      from sandbox.events e
      join sandbox.transactions t on t.version = e.version
      left join sandbox.blocks b on b.number = t.block_number
     where ${where} order by e.version, e.index limit ${filter.limit}`);
}

/** The positions that have an index are written out, so that the database recognises them. */
function keyAt(position: number): Sql {
  if (position === 1) return sql`e.keys[2]`;
  if (position === 2) return sql`e.keys[3]`;
  return sql`e.keys[${position + 1}::integer]`;
}
