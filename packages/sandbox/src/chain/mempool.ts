import { toHex } from '@svc/starknet';
import { type Reads, sql } from '@svc/store';
import type { Transaction } from '../execution/types.ts';
import type { ContractClass } from './contract-class.ts';
import type { Draft } from './draft.ts';
import { type ReadTransaction, readTransaction } from './read-transaction.ts';
import { type ShownTransaction, showTransaction } from './show-transaction.ts';

/** How far ahead of its account a transaction may be: what the public sequencer allows. */
export const MAX_NONCE_GAP = 200n;
/** Of all accounts together: a few busy relayers at their limit. */
const MAX_QUEUED = 10_000;

export type Queued = 'QUEUED' | 'DUPLICATE' | 'UNDERPRICED' | 'FULL';

/** Lets a transaction wait for the ones before it. Another one of the same nonce is replaced only by a better paid one. */
export async function enqueue(draft: Draft, tx: Transaction, definition: ContractClass | undefined): Promise<Queued> {
  const sender = senderOf(tx);
  const there = await draft.tx.one<{ hash: string; tip: string; price: string }>(sql`
    select hash, tip, price from sandbox.mempool where sender = ${sender} and nonce = ${tx.nonce}`);
  if (there?.hash === toHex(tx.hash)) return 'DUPLICATE';
  const price = tx.resourceBounds.l2Gas.maxPricePerUnit;
  if (there && (tx.tip <= BigInt(there.tip) || price <= BigInt(there.price))) return 'UNDERPRICED';
  if (!there && draft.head.queued >= MAX_QUEUED) return 'FULL';
  await draft.tx.run(sql`
    insert into sandbox.mempool (hash, sender, nonce, tip, price, transaction, definition)
    values (${toHex(tx.hash)}, ${sender}, ${tx.nonce}, ${tx.tip}, ${price}, ${JSON.stringify(showTransaction(tx))}::json,
      ${definition ? JSON.stringify(definition) : null}::json)
    on conflict (sender, nonce) do update
      set hash = excluded.hash, tip = excluded.tip, price = excluded.price, transaction = excluded.transaction,
          definition = excluded.definition`);
  if (!there) draft.change({ queued: draft.head.queued + 1 });
  return 'QUEUED';
}

/** Takes the transaction that waits for exactly this nonce. */
export async function dequeue(draft: Draft, sender: bigint, nonce: bigint): Promise<ReadTransaction | undefined> {
  if (draft.head.queued === 0) return undefined;
  const row = await draft.tx.one<{ transaction: ShownTransaction; definition: ContractClass | null }>(sql`
    delete from sandbox.mempool where sender = ${toHex(sender)} and nonce = ${nonce} returning transaction, definition`);
  if (!row) return undefined;
  draft.change({ queued: draft.head.queued - 1 });
  const { tx } = readTransaction(row.transaction, 'transaction');
  return row.definition ? { tx, definition: row.definition } : { tx };
}

export async function queuedTransaction(reads: Reads, hash: string): Promise<ShownTransaction | undefined> {
  const row = await reads.one<{ transaction: ShownTransaction }>(sql`
    select transaction from sandbox.mempool where hash = ${hash}`);
  return row?.transaction;
}

export function senderOf(tx: Transaction): string {
  return toHex(tx.type === 'DEPLOY_ACCOUNT' ? tx.address : tx.sender);
}
