import { type Reads, type Sql, sql } from '@svc/store';
import type { Head } from './head.ts';
import type { EventRow, TransactionRow } from './rows.ts';

/** A transaction as it stands in a block; the hash of an open block is not known yet. */
export type StoredTransaction = TransactionRow & { readonly block_hash: string | null };

type Row = Omit<StoredTransaction, 'l1_gas' | 'l1_data_gas' | 'l2_gas'> & {
  readonly l1_gas: bigint;
  readonly l1_data_gas: bigint;
  readonly l2_gas: bigint;
};

export async function findTransaction(reads: Reads, head: Head, hash: string): Promise<StoredTransaction | undefined> {
  return (await find(reads, head, sql`t.hash = ${hash}`))[0];
}

export async function transactionAt(
  reads: Reads,
  head: Head,
  block: number,
  index: number,
): Promise<StoredTransaction | undefined> {
  return (await find(reads, head, sql`t.block_number = ${block} and t.index = ${index}`))[0];
}

/** Bounded by what a block may hold. */
export function transactionsOf(reads: Reads, head: Head, block: number): Promise<StoredTransaction[]> {
  return find(reads, head, sql`t.block_number = ${block}`);
}

/** The events of the transactions with these versions, in order. */
export function eventsOf(reads: Reads, versions: readonly number[]): Promise<EventRow[]> {
  return reads.rows<EventRow>(sql`
    select version, index, from_address, keys, data from sandbox.events
     where version = any(${versions}) order by version, index`);
}

async function find(reads: Reads, head: Head, which: Sql): Promise<StoredTransaction[]> {
  const rows = await reads.rows<Row>(sql`
    select t.version, t.hash, t.block_number, t.index, t.transaction, t.execution_status, t.revert_reason, t.actual_fee,
           t.l1_gas, t.l1_data_gas, t.l2_gas, t.contract_address, b.hash as block_hash
      from sandbox.transactions t left join sandbox.blocks b on b.number = t.block_number
     where ${which} and t.version <= ${head.version} order by t.version`);
  return rows.map((row) => ({
    ...row,
    l1_gas: Number(row.l1_gas),
    l1_data_gas: Number(row.l1_data_gas),
    l2_gas: Number(row.l2_gas),
  }));
}
