import { type Db, sql } from '@svc/store';
import { type Draft, include, save } from './draft.ts';
import { type ContractClass, readTransaction, type ShownTransaction } from './transaction.ts';

export interface Reorganised {
  readonly dropped: readonly string[];
  readonly requeued: readonly string[];
}

interface Row {
  readonly hash: string;
  readonly transaction: ShownTransaction;
  readonly definition: ContractClass | null;
}

/** With `requeue` the removed transactions run again, in order, in one new block; invalid ones are dropped. */
export async function reorganise(draft: Draft, blocks: number, what: 'drop' | 'requeue'): Promise<Reorganised> {
  await save(draft.tx, draft);
  const number = Math.max(0, draft.head.number - blocks);
  const block = await draft.tx.one<{ hash: string; timestamp: bigint; version: number }>(sql`
    select hash, timestamp, version from sandbox.blocks where number = ${number}`);
  if (!block) throw new Error(`Block ${number} is missing.`);
  const taken = await transactionsAbove(draft.tx, number);
  await deleteAbove(draft.tx, number, block.version);
  const { head } = draft;
  // A new version: caches hold other values under the block's former version.
  const version = head.version + 1;
  draft.restartFrom({
    ...head,
    number,
    hash: block.hash,
    timestamp: Number(block.timestamp),
    sealedVersion: version,
    version,
    reorganisations: head.reorganisations + 1,
    open: draft.newBlock(),
  });
  const requeued = what === 'requeue' ? await requeue(draft, taken) : [];
  if (requeued.length > 0) draft.sealIfInstant();
  else if (head.blockSeconds === 0) draft.change({ open: undefined });
  return { dropped: taken.map((row) => row.hash).filter((hash) => !requeued.includes(hash)), requeued };
}

async function transactionsAbove(tx: Db, number: number): Promise<Row[]> {
  return tx.rows<Row>(sql`
    select t.hash, t.transaction, c.definition
      from sandbox.transactions t left join sandbox.classes c on c.hash = t.transaction ->> 'class_hash'
     where t.block_number > ${number} order by t.version`);
}

async function deleteAbove(tx: Db, number: number, version: number): Promise<void> {
  await tx.run(sql`
    with blocks as (delete from sandbox.blocks where number > ${number}),
      transactions as (delete from sandbox.transactions where version > ${version}),
      events as (delete from sandbox.events where version > ${version})
    delete from sandbox.state where version > ${version}`);
}

async function requeue(draft: Draft, rows: readonly Row[]): Promise<string[]> {
  const done: string[] = [];
  for (const { hash, transaction, definition } of rows) {
    const { tx } = readTransaction(transaction, 'transaction');
    if (!(await include(draft, { tx, ...(definition && { definition }) }))) done.push(hash);
  }
  return done;
}
