import { type Reads, sql } from '@svc/store';
import { type Block, versionBefore } from './find-block.ts';

export interface BlockDetails {
  readonly parentHash: string;
  readonly transactions: number;
  readonly events: number;
  /** Cells of the state that changed. */
  readonly changes: number;
}

export async function blockDetails(reads: Reads, block: Block): Promise<BlockDetails> {
  const above = await versionBefore(reads, block);
  const row = await reads.one<{
    parent_hash: string | null;
    transactions: bigint;
    events: bigint;
    changes: bigint;
  }>(sql`
    select (select parent_hash from sandbox.blocks where number = ${block.number}) as parent_hash,
           (select count(*) from sandbox.transactions where version > ${above} and version <= ${block.version})
             as transactions,
           (select count(*) from sandbox.events where version > ${above} and version <= ${block.version}) as events,
           (select count(distinct (contract, slot)) from sandbox.state
             where version > ${above} and version <= ${block.version}) as changes`);
  return {
    parentHash: row?.parent_hash ?? '0x0',
    transactions: Number(row?.transactions ?? 0),
    events: Number(row?.events ?? 0),
    changes: Number(row?.changes ?? 0),
  };
}
