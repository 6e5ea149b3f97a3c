import type { Reads } from '@svc/store';
import type { Draft } from './draft.ts';
import type { Head } from './head.ts';
import {
  type Block,
  type BlockContent,
  type BlockId,
  eventsOf,
  finalityOf,
  findBlock,
  findTransaction,
  readContent,
  type StoredTransaction,
} from './queries.ts';
import type { BlockRow, EventRow } from './state.ts';

/** Each has a thousand hashes at most. */
const MAX_CONTENTS = 64;
const MAX_BLOCKS = 512;
/** Of calldata and events: some 10 MB. */
const MAX_FELTS = 100_000;

/** A transaction of a sealed block with its events, and a block, in a chain that was reorganised so many times. */
interface KeptTransaction {
  readonly tx: StoredTransaction;
  readonly events: readonly EventRow[];
  readonly felts: number;
  readonly reorganisations: number;
}

interface KeptBlock {
  readonly row: BlockRow;
  readonly reorganisations: number;
}

export type WithEvents = Pick<KeptTransaction, 'tx' | 'events'>;

/** The newest sealed blocks: whoever sent a transaction asks for its receipt and its block next. The rest is in the database. */
export class RecentBlocks {
  /** By hash, which names the content; also of blocks that were read. */
  readonly #contents = new Map<string, Promise<BlockContent>>();
  readonly #blocks = new Map<number, KeptBlock>();
  readonly #transactions = new Map<string, KeptTransaction>();
  #felts = 0;

  /** What this process stored after the head `before`. */
  add(before: Head, draft: Draft): void {
    const { reorganisations } = draft.head;
    // A block may have transactions that an earlier draft stored.
    if (reorganisations !== before.reorganisations || before.version !== before.sealedVersion) return;
    const transactions = Map.groupBy(draft.transactions, (row) => row.block_number);
    const events = Map.groupBy(draft.events, (row) => row.version);
    const state = Map.groupBy(draft.state, (row) => row.version);
    for (const row of draft.blocks) {
      const own = transactions.get(row.number) ?? [];
      const cells = own.flatMap(({ version }) => state.get(version) ?? []);
      const details = {
        parentHash: row.parent_hash,
        transactions: own.length,
        events: own.reduce((sum, { version }) => sum + (events.get(version)?.length ?? 0), 0),
        changes: new Set(cells.map(({ contract, slot }) => `${contract} ${slot}`)).size,
      };
      this.#keepContent(row.hash, Promise.resolve({ details, hashes: own.map(({ hash }) => hash) }));
      keep(this.#blocks, row.number, { row, reorganisations }, MAX_BLOCKS);
      for (const tx of own) {
        this.#keepTransaction({ ...tx, block_hash: row.hash }, events.get(tx.version) ?? [], reorganisations);
      }
    }
  }

  async block(reads: Reads, head: Head, id: BlockId, now: number): Promise<Block | undefined> {
    const kept = typeof id === 'object' && 'number' in id ? this.#blocks.get(id.number) : undefined;
    if (!kept || kept.reorganisations !== head.reorganisations || kept.row.number > head.number) {
      return findBlock(reads, head, id, now);
    }
    const { number, hash, timestamp, version } = kept.row;
    return { number, hash, timestamp, version, finality: finalityOf(head, number) };
  }

  content(reads: Reads, head: Head, block: Block): Promise<BlockContent> {
    const { hash } = block;
    const content = this.#contents.get(hash ?? '') ?? readContent(reads, head, block);
    if (hash !== undefined) this.#keepContent(hash, content);
    return content;
  }

  async transaction(reads: Reads, head: Head, hash: string): Promise<StoredTransaction | undefined> {
    return this.#find(head, hash)?.tx ?? findTransaction(reads, head, hash);
  }

  async withEvents(reads: Reads, head: Head, hash: string): Promise<WithEvents | undefined> {
    const kept = this.#find(head, hash);
    if (kept) return kept;
    const tx = await findTransaction(reads, head, hash);
    return tx && { tx, events: await eventsOf(reads, [tx.version]) };
  }

  #find(head: Head, hash: string): KeptTransaction | undefined {
    const kept = this.#transactions.get(hash);
    const isThere = kept && kept.reorganisations === head.reorganisations && kept.tx.version <= head.version;
    return isThere ? kept : undefined;
  }

  #keepContent(hash: string, content: Promise<BlockContent>): void {
    if (!this.#contents.has(hash)) content.catch(() => this.#contents.delete(hash));
    keep(this.#contents, hash, content, MAX_CONTENTS);
  }

  #keepTransaction(tx: StoredTransaction, events: readonly EventRow[], reorganisations: number): void {
    const { calldata = [] } = tx.transaction as { readonly calldata?: readonly string[] };
    const felts = events.reduce((sum, { keys, data }) => sum + keys.length + data.length, 1 + calldata.length);
    this.#felts += felts - (this.#transactions.get(tx.hash)?.felts ?? 0);
    keep(this.#transactions, tx.hash, { tx, events, felts, reorganisations });
    for (const [hash, oldest] of this.#transactions) {
      if (this.#felts <= MAX_FELTS) break;
      this.#transactions.delete(hash);
      this.#felts -= oldest.felts;
    }
  }
}

/** Inserted again: the first key is the one that was used longest ago. */
function keep<K, V>(map: Map<K, V>, key: K, value: V, limit = Number.POSITIVE_INFINITY): void {
  map.delete(key);
  map.set(key, value);
  const oldest = map.keys().next();
  if (map.size > limit && !oldest.done) map.delete(oldest.value);
}
