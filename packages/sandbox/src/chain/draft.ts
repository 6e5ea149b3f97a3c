import { chainIds, toHex } from '@svc/starknet';
import { type Db, type Reads, sql } from '@svc/store';
import { predeployed } from '../contracts/predeployed.ts';
import { executeTransaction, validate } from '../execution/execute.ts';
import type { BlockContext, Executed, ExecutionOptions, Refused, Transaction } from '../execution/types.ts';
import { consumeFault, findFault } from './faults.ts';
import { blockHash, type Head } from './head.ts';
import {
  type BlockRow,
  type EventRow,
  eventRows,
  Overlay,
  type StateCache,
  type StateRow,
  stateAt,
  stateRows,
  type TransactionRow,
  transactionRow,
} from './state.ts';
import {
  type ContractClass,
  type ReadTransaction,
  readTransaction,
  type ShownTransaction,
  showTransaction,
} from './transaction.ts';

/** Bounds what a client reads per block; a full block is sealed early. */
export const MAX_BLOCK_TRANSACTIONS = 1_000;

export interface ClassRow {
  readonly hash: string;
  readonly definition: ContractClass;
}

/** The chain as it will be once the writer's database transaction commits. */
export class Draft {
  readonly tx: Db;
  readonly blocks: BlockRow[] = [];
  readonly transactions: TransactionRow[] = [];
  readonly events: EventRow[] = [];
  readonly state: StateRow[] = [];
  readonly classes: ClassRow[] = [];
  readonly #cache: StateCache;
  readonly #now: () => number;
  #head: Head;
  #overlay: Overlay;

  constructor(tx: Db, head: Head, cache: StateCache, now: () => number) {
    this.tx = tx;
    this.#head = head;
    this.#cache = cache;
    this.#now = now;
    this.#overlay = new Overlay(stateAt(tx, cache, head.version));
  }

  get head(): Head {
    return this.#head;
  }

  get overlay(): Overlay {
    return this.#overlay;
  }

  change(changes: Partial<Head>): void {
    this.#head = { ...this.#head, ...changes };
  }

  /** Continues from another head. Drafted rows must be stored before. */
  restartFrom(head: Head): void {
    for (const rows of [this.blocks, this.transactions, this.events, this.state, this.classes]) rows.length = 0;
    this.#head = head;
    this.#overlay = new Overlay(stateAt(this.tx, this.#cache, head.version));
  }

  context(): BlockContext {
    return {
      number: BigInt(this.#head.number + 1),
      timestamp: BigInt(this.#openTimestamp()),
      sequencer: predeployed.sequencer.address,
      chainId: chainIds.SVC_SANDBOX,
    };
  }

  include(tx: Transaction, executed: Executed, definition?: ContractClass): void {
    const open = this.#head.open ?? { timestamp: this.#openTimestamp(), transactions: 0, openedAt: this.#now() };
    const version = this.#head.version + 1;
    const position = { version, block: this.#head.number + 1, index: open.transactions };
    const compiledHash = () => (tx.type === 'DECLARE' ? tx.compiledClassHash : 0n);
    this.transactions.push(transactionRow(position, tx, executed));
    this.events.push(...eventRows(version, executed));
    this.state.push(...stateRows(version, executed.diff, compiledHash));
    if (definition && tx.type === 'DECLARE' && executed.diff.declared.has(tx.classHash)) {
      this.classes.push({ hash: toHex(tx.classHash), definition });
    }
    this.#overlay.apply(executed.diff);
    this.change({ version, open: { ...open, transactions: open.transactions + 1 } });
    if (open.transactions + 1 >= MAX_BLOCK_TRANSACTIONS) this.seal();
  }

  sealIfInstant(): void {
    if (this.#head.blockSeconds === 0 && this.#head.open) this.seal();
  }

  seal(): void {
    const { number, hash, version, blockSeconds } = this.#head;
    const block = { number: number + 1, timestamp: this.#openTimestamp(), version, parent: hash };
    const sealed = { ...block, hash: blockHash(block) };
    this.blocks.push({
      number: sealed.number,
      hash: sealed.hash,
      parent_hash: hash,
      timestamp: sealed.timestamp,
      version,
    });
    this.change({ number: sealed.number, hash: sealed.hash, timestamp: sealed.timestamp, sealedVersion: version });
    this.change({ open: blockSeconds === 0 ? undefined : this.newBlock() });
  }

  newBlock(): NonNullable<Head['open']> {
    const now = this.#now();
    return { timestamp: Math.floor(now / 1000) + this.#head.timeOffsetSeconds, transactions: 0, openedAt: now };
  }

  #openTimestamp(): number {
    return (this.#head.open ?? this.newBlock()).timestamp;
  }
}

/** One statement, so one round trip, for any number of transactions. */
export async function save(tx: Db, draft: Draft): Promise<void> {
  const { head } = draft;
  await tx.run(sql`
    with new_blocks as (
      insert into sandbox.blocks (number, hash, parent_hash, timestamp, version)
      select number, hash, parent_hash, timestamp, version
        from jsonb_to_recordset(${JSON.stringify(draft.blocks)}::jsonb)
          as row(number integer, hash text, parent_hash text, timestamp bigint, version integer)
    ), new_transactions as (
      insert into sandbox.transactions (version, hash, block_number, index, transaction, execution_status, revert_reason,
        actual_fee, l1_gas, l1_data_gas, l2_gas, contract_address)
      select version, hash, block_number, index, transaction, execution_status, revert_reason,
        actual_fee, l1_gas, l1_data_gas, l2_gas, contract_address
        from json_to_recordset(${JSON.stringify(draft.transactions)}::json)
          as row(version integer, hash text, block_number integer, index integer, transaction json,
            execution_status text, revert_reason text, actual_fee text, l1_gas bigint, l1_data_gas bigint,
            l2_gas bigint, contract_address text)
    ), new_events as (
      insert into sandbox.events (version, index, from_address, keys, data)
      select version, index, from_address, keys, data
        from jsonb_to_recordset(${JSON.stringify(draft.events)}::jsonb)
          as row(version integer, index integer, from_address text, keys text[], data text[])
    ), new_state as (
      insert into sandbox.state (contract, slot, version, value)
      select contract, slot, version, value
        from jsonb_to_recordset(${JSON.stringify(draft.state)}::jsonb)
          as row(contract text, slot text, version integer, value text)
    ), new_classes as (
      insert into sandbox.classes (hash, definition)
      select hash, definition from json_to_recordset(${JSON.stringify(draft.classes)}::json)
          as row(hash text, definition json)
      on conflict do nothing
    )
    update sandbox.chain set
      number = ${head.number}, hash = ${head.hash}, timestamp = ${head.timestamp},
      sealed_version = ${head.sealedVersion}, version = ${head.version}, reorganisations = ${head.reorganisations},
      block_seconds = ${head.blockSeconds}, time_offset_seconds = ${head.timeOffsetSeconds},
      l1_after_blocks = ${head.l1AfterBlocks}, queued = ${head.queued},
      opened_at = ${head.open ? new Date(head.open.openedAt) : null},
      open_timestamp = ${head.open?.timestamp ?? null}, open_transactions = ${head.open?.transactions ?? 0}`);
}

/** Only INCLUDED and QUEUED are acknowledged to the sender. */
export type Submitted =
  | { readonly outcome: 'INCLUDED' | 'QUEUED' }
  | { readonly outcome: 'DUPLICATE' | 'UNDERPRICED' | 'FULL' }
  | { readonly outcome: 'REFUSED'; readonly refusal: Refused };

/** Executes a transaction into the open block, or queues it while its nonce is ahead of the account's. */
export async function submit(draft: Draft, sent: ReadTransaction): Promise<Submitted> {
  const { tx, definition } = sent;
  if (tx.type !== 'DEPLOY_ACCOUNT' && tx.nonce > (await draft.overlay.nonceAt(tx.sender))) {
    const refusal = await validate(draft.overlay, draft.context(), tx, { maxNonceGap: MAX_NONCE_GAP });
    return refusal ? { outcome: 'REFUSED', refusal } : { outcome: await enqueue(draft, tx, definition) };
  }
  const refusal = await includeOrRevert(draft, sent);
  if (!refusal) {
    await includeQueued(draft, tx);
    return { outcome: 'INCLUDED' };
  }
  // A resent transaction fails on the nonce that it consumed itself.
  return (await isKnown(draft, tx.hash)) ? { outcome: 'DUPLICATE' } : { outcome: 'REFUSED', refusal };
}

export async function include(
  draft: Draft,
  { tx, definition }: ReadTransaction,
  options: ExecutionOptions = {},
): Promise<Refused | undefined> {
  const result = await executeTransaction(draft.overlay, draft.context(), tx, options);
  if ('refused' in result) return result;
  draft.include(tx, result, definition);
  return undefined;
}

/** As `include`, applying a `revert` fault. A refused transaction leaves the fault to the next one. */
async function includeOrRevert(draft: Draft, sent: ReadTransaction): Promise<Refused | undefined> {
  const fault = draft.head.faultsActive ? await findFault(draft.tx, 'revert', methodFor[sent.tx.type]) : undefined;
  const refusal = await include(draft, sent, fault ? { forceRevert: fault.reason ?? 'Reverted by order' } : {});
  if (fault && !refusal) await consumeFault(draft.tx, fault.id);
  draft.sealIfInstant();
  return refusal;
}

/** Includes queued transactions of the account with the next nonces. A refused one is dropped, as on a live node. */
async function includeQueued(draft: Draft, first: Transaction): Promise<void> {
  const sender = first.type === 'DEPLOY_ACCOUNT' ? first.address : first.sender;
  for (let nonce = first.nonce + 1n; nonce <= first.nonce + MAX_NONCE_GAP; nonce++) {
    const next = await dequeue(draft, sender, nonce);
    if (!next || (await includeOrRevert(draft, next))) return;
  }
}

const methodFor = {
  INVOKE: 'starknet_addInvokeTransaction',
  DEPLOY_ACCOUNT: 'starknet_addDeployAccountTransaction',
  DECLARE: 'starknet_addDeclareTransaction',
} as const;

async function isKnown(draft: Draft, hash: bigint): Promise<boolean> {
  const text = toHex(hash);
  if (draft.transactions.some((row) => row.hash === text)) return true;
  return (await draft.tx.one(sql`select from sandbox.transactions where hash = ${text}`)) !== undefined;
}

/** As the public sequencer allows. */
export const MAX_NONCE_GAP = 200n;
/** Over all accounts: a few busy relayers at their limit. */
const MAX_QUEUED = 10_000;

export type Queued = 'QUEUED' | 'DUPLICATE' | 'UNDERPRICED' | 'FULL';

/** Queues a transaction behind a nonce gap. Replaces one of the same nonce only with higher tip and price. */
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
