import type { ChainToken, EvmAddress } from '@svc/protocol';
import { type Db, sql } from '@svc/store';
import type { EvmChain, NativeCoin } from './tokens.ts';

/** One read brings at most this many rows into memory. */
export const PAGE = 500;

export interface Grant {
  readonly address: EvmAddress;
  readonly token: ChainToken | NativeCoin;
  /** In the token's smallest unit. */
  readonly amount: bigint;
}

/** What makes a block: a transaction as its sender signed it (hexadecimal), or a grant of the faucet. */
export type Deed = { readonly raw: string } | { readonly grant: Grant };

export interface Entry {
  /** The number of the block that it makes. */
  readonly position: number;
  /** The time of that block, in seconds. */
  readonly time: number;
  readonly deed: Deed;
}

interface Row {
  readonly position: bigint;
  readonly block_time: bigint;
  readonly raw_transaction: Buffer | null;
  readonly grant_address: EvmAddress;
  readonly grant_token: Grant['token'];
  readonly grant_amount: string;
}

/** Until the end of this transaction, nobody else adds to the log of this chain. */
export async function lockLog(tx: Db, chain: EvmChain): Promise<void> {
  await tx.run(sql`select pg_advisory_xact_lock(hashtextextended('svc:sandbox-evm:' || ${chain}::text, 0))`);
}

/** The next entries after a position, a page at most. */
export async function entriesAfter(db: Db, chain: EvmChain, position: number): Promise<Entry[]> {
  const rows = await db.rows<Row>(sql`
    select position, block_time, raw_transaction, grant_address, grant_token, grant_amount
    from sandbox.evm_log where chain = ${chain} and position > ${position} order by position limit ${PAGE}`);
  return rows.map((row) => ({ position: Number(row.position), time: Number(row.block_time), deed: deedOf(row) }));
}

export async function append(tx: Db, chain: EvmChain, { position, time, deed }: Entry): Promise<void> {
  const raw = 'raw' in deed ? Buffer.from(deed.raw.slice(2), 'hex') : null;
  const grant = 'grant' in deed ? deed.grant : undefined;
  await tx.run(sql`
    insert into sandbox.evm_log (chain, position, block_time, raw_transaction, grant_address, grant_token, grant_amount)
    values (${chain}, ${position}, ${time}, ${raw}, ${grant?.address}, ${grant?.token}, ${grant?.amount})`);
}

function deedOf(row: Row): Deed {
  if (row.raw_transaction) return { raw: `0x${row.raw_transaction.toString('hex')}` };
  const { grant_address: address, grant_token: token, grant_amount: amount } = row;
  return { grant: { address, token, amount: BigInt(amount) } };
}
