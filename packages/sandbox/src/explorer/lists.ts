import { LEGACY_UDC_ADDRESS, toHex, UDC_ADDRESS } from '@svc/starknet';
import { type Database, type Sql, sql } from '@svc/store';
import { type Head, readHead } from '../chain/head.ts';
import { type Finality, finalityOf } from '../chain/queries.ts';
import { CLASS } from '../chain/state.ts';
import { starknetTokens } from '../tokens.ts';

/** Failed transactions are searched by their text: the newest of them only. */
const MAX_REVERTED = 5_000;

export interface ListedTransaction {
  readonly transactionHash: string;
  readonly blockNumber: number;
  readonly index: number;
  /** Unix seconds of chain time. */
  readonly timestamp: number;
  readonly finalityStatus: Finality;
  readonly executionStatus: 'SUCCEEDED' | 'REVERTED';
  /** In FRI. */
  readonly actualFee: string;
  readonly events: number;
  /** As JSON-RPC shows it. */
  readonly transaction: Readonly<Record<string, unknown>>;
}

export interface Page<T> {
  readonly data: readonly T[];
  readonly nextCursor: string | null;
}

interface PageQuery {
  readonly limit: number;
  /** State version that the page starts below. */
  readonly before: number;
}

interface TransactionRow {
  readonly version: number;
  readonly hash: string;
  readonly block_number: number;
  readonly index: number;
  readonly timestamp: bigint | null;
  readonly execution_status: 'SUCCEEDED' | 'REVERTED';
  readonly actual_fee: string;
  readonly events: bigint;
  readonly transaction: Readonly<Record<string, unknown>>;
}

/** Newest first. Of an address: those that it sent, that changed it, that named it in an event, or that failed calling it. */
export async function listTransactions(
  db: Database,
  { address, limit, before }: PageQuery & { readonly address: bigint | undefined },
): Promise<Page<ListedTransaction>> {
  const head = await readHead(db.reads);
  const which =
    address === undefined
      ? sql`true`
      : sql`t.version in (${versionsOf(address, Math.min(before, head.version + 1), limit + 1)})`;
  const rows = await db.rows<TransactionRow>(sql`
    select t.version, t.hash, t.block_number, t.index, b.timestamp, t.execution_status, t.actual_fee, t.transaction,
           (select count(*) from sandbox.events e where e.version = t.version) as events
      from sandbox.transactions t left join sandbox.blocks b on b.number = t.block_number
     where ${which} and t.version < ${before} order by t.version desc limit ${limit + 1}`);
  const shown = rows.slice(0, limit);
  return {
    data: shown.map((row) => showRow(row, head)),
    nextCursor: rows.length > limit ? String(shown.at(-1)?.version) : null,
  };
}

/** Every branch reads an index backwards and ends at the limit. A token's cells change all the time: its events tell as much. */
function versionsOf(address: bigint, before: number, limit: number): Sql {
  const hex = toHex(address);
  const isToken = starknetTokens.some((token) => token.address === address);
  const newest = (from: Sql) => sql`(select distinct version from ${from} and version < ${before}
     order by version desc limit ${limit})`;
  const events = [
    newest(sql`sandbox.events where from_address = ${hex}`),
    newest(sql`sandbox.events where keys[2] = ${hex}`),
    newest(sql`sandbox.events where keys[3] = ${hex}`),
  ].reduce((all, one) => sql`${all} union ${one}`);
  if (isToken) return events;
  return sql`${events}
    union ${newest(sql`sandbox.state where contract = ${hex}`)}
    union (select version from (
      select version, transaction from sandbox.transactions
       where execution_status = 'REVERTED' and version < ${before} order by version desc limit ${MAX_REVERTED}) reverted
     where transaction::text like ${`%"${hex}"%`} order by version desc limit ${limit})`;
}

function showRow(row: TransactionRow, head: Head): ListedTransaction {
  return {
    transactionHash: row.hash,
    blockNumber: row.block_number,
    index: row.index,
    timestamp: Number(row.timestamp ?? head.open?.timestamp ?? head.timestamp),
    finalityStatus: finalityOf(head, row.block_number),
    executionStatus: row.execution_status,
    actualFee: row.actual_fee,
    events: Number(row.events),
    transaction: row.transaction,
  };
}

export interface ListedAccount {
  readonly address: string;
  readonly classHash: string;
  readonly blockNumber: number;
  readonly timestamp: number;
  readonly transactionHash: string;
}

interface AccountRow {
  readonly version: number;
  readonly address: string;
  readonly class_hash: string;
  readonly block_number: number;
  readonly timestamp: bigint | null;
  readonly hash: string;
}

const DEPLOYERS = [toHex(UDC_ADDRESS), toHex(LEGACY_UDC_ADDRESS)];

/** Contracts in the order of their deployment, the newest first: by the universal deployer, or by themselves. */
export async function listAccounts(db: Database, { limit, before }: PageQuery): Promise<Page<ListedAccount>> {
  const head = await readHead(db.reads);
  const rows = await db.rows<AccountRow>(sql`
    select d.version, d.address, t.hash, t.block_number, b.timestamp,
           (select value from sandbox.state s where s.contract = d.address and s.slot = ${CLASS}
             order by s.version desc limit 1) as class_hash
      from (
        (select version, data[1] as address from sandbox.events
          where from_address = any(${DEPLOYERS}) and version < ${before} order by version desc limit ${limit + 1})
        union all
        (select version, contract_address from sandbox.transactions
          where contract_address is not null and execution_status = 'SUCCEEDED' and version < ${before}
          order by version desc limit ${limit + 1})) d
      join sandbox.transactions t on t.version = d.version
      left join sandbox.blocks b on b.number = t.block_number
     order by d.version desc limit ${limit + 1}`);
  const shown = rows.slice(0, limit);
  return {
    data: shown.map((row) => ({
      address: row.address,
      classHash: row.class_hash,
      blockNumber: row.block_number,
      timestamp: Number(row.timestamp ?? head.open?.timestamp ?? head.timestamp),
      transactionHash: row.hash,
    })),
    nextCursor: rows.length > limit ? String(shown.at(-1)?.version) : null,
  };
}
