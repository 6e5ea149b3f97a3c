import type { Chain, Environment, EventType, TxStatus, TxSubType, TxType } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { type Db, type Reads, sql } from '@svc/store';
import { addressOf } from '../chains/starknet/chain.ts';
import { publishEvents } from '../events/events.ts';
import type { RelayOutcome } from '../relayer/outcome.ts';
import { newId } from '../util/ids.ts';
import { storableText } from '../util/text.ts';
import {
  fromRow,
  type NewRecord,
  type Row,
  recordColumns,
  statusesBefore,
  type TransactionRecord,
  toTransaction,
} from './record.ts';

export interface RecordOwner {
  readonly organizationId: string;
  readonly environment: Environment;
}

// About a megabyte and ten milliseconds per statement.
const MAX_RECORDS_A_STATEMENT = 1_000;
// The size of a transaction bounds its calls and transfers.
const MAX_RECORDS_OF_ONE = 10_000;
const MAX_REVERT_REASON = 4_000;

export interface InsertOptions {
  /** Webhooks are told of records in higher blocks: older ones are history. */
  readonly newsAbove?: number | undefined;
}

/** In the same order. Where an event is recorded already, the stored record is answered. */
export async function insertRecords(
  tx: Db,
  records: readonly NewRecord[],
  options: InsertOptions = {},
): Promise<TransactionRecord[]> {
  const stored: TransactionRecord[] = [];
  for (let start = 0; start < records.length; start += MAX_RECORDS_A_STATEMENT) {
    const some = records.slice(start, start + MAX_RECORDS_A_STATEMENT);
    stored.push(
      ...(await insertSome(
        tx,
        some.map((record) => ({ ...record, id: newId('txn') })),
        options,
      )),
    );
  }
  return stored;
}

export async function insertRecordAs(tx: Db, id: string, record: NewRecord): Promise<TransactionRecord> {
  const [stored] = await insertSome(tx, [{ ...record, id }]);
  if (!stored) throw new Error('A record was not stored.');
  return stored;
}

async function insertSome(
  tx: Db,
  records: readonly (NewRecord & { id: string })[],
  { newsAbove = -1 }: InsertOptions = {},
): Promise<TransactionRecord[]> {
  const given = records.map((record) => ({ ...record, amount: record.amount?.toString() }));
  // One order, to avoid deadlocks.
  const added = await tx.rows<Row>(sql`
    insert into transactions (id, organization_id, environment, api_public_key, type, sub_type, chain, transaction_hash,
      event_index, relay_id, call_index, sender_address, destination_address, contract_address, contract_name,
      function_name, function_selector, token, token_address, amount, sku_id, sku_reference, sku_purchase_amount,
      sku_purchase_currency, status, block_number, sender_wallet_id, destination_wallet_id, created_at, confirmed_at,
      updated_at)
    select id, "organizationId", environment, "apiPublicKey", type, "subType", chain, "transactionHash", "eventIndex",
      "relayId", "callIndex", "senderAddress", "destinationAddress", "contractAddress", "contractName", "functionName",
      "functionSelector", token, "tokenAddress", amount, "skuId", "skuReference", "skuPurchaseAmount",
      "skuPurchaseCurrency", status, "blockNumber", "senderWalletId", "destinationWalletId", "createdAt", "confirmedAt",
      greatest("createdAt", now())
    from jsonb_to_recordset(${JSON.stringify(given)}::jsonb) as given (
      id text, "organizationId" text, environment text, "apiPublicKey" text, type text, "subType" text, chain text,
      "transactionHash" text, "eventIndex" integer, "relayId" text, "callIndex" integer, "senderAddress" text,
      "destinationAddress" text, "contractAddress" text, "contractName" text, "functionName" text,
      "functionSelector" text, token text, "tokenAddress" text, amount numeric, "skuId" text, "skuReference" text,
      "skuPurchaseAmount" numeric, "skuPurchaseCurrency" text, status text, "blockNumber" bigint, "senderWalletId" text,
      "destinationWalletId" text, "createdAt" timestamptz, "confirmedAt" timestamptz)
    order by "transactionHash", "eventIndex", chain, environment, "organizationId", id
    on conflict (transaction_hash, event_index, chain, environment, organization_id) do nothing
    returning ${recordColumns}`);
  const byId = new Map(added.map((row) => [row.id, fromRow(row)]));
  const news = [...byId.values()].filter(({ blockNumber = 0 }) => blockNumber > newsAbove);
  await publishChanges(
    tx,
    news.map((record) => ({ record })),
  );
  if (byId.size < given.length) {
    // A separate statement sees what a concurrent transaction has committed.
    const missing = given.filter(({ id }) => !byId.has(id));
    const there = new Map((await recordsOfEvents(tx, missing)).map((record) => [eventOf(record), record]));
    for (const record of missing) {
      const found = there.get(eventOf(record));
      if (found) byId.set(record.id, found);
    }
  }
  return given.map(({ id }) => {
    const record = byId.get(id);
    if (!record) throw new Error('A record was neither added nor there already.');
    return record;
  });
}

type EventKey = Pick<NewRecord, 'organizationId' | 'environment' | 'chain' | 'transactionHash' | 'eventIndex'>;

function eventOf({ organizationId, environment, chain, transactionHash, eventIndex }: EventKey): string {
  return JSON.stringify([organizationId, environment, chain, transactionHash, eventIndex]);
}

async function recordsOfEvents(reads: Reads, events: readonly EventKey[]): Promise<TransactionRecord[]> {
  const rows = await reads.rows<Row>(sql`
    select ${recordColumns} from transactions
    where (transaction_hash, event_index, chain, environment, organization_id) in (
      select "transactionHash", "eventIndex", chain, environment, "organizationId"
      from jsonb_to_recordset(${JSON.stringify(events.map(keyOf))}::jsonb) as event (
        "transactionHash" text, "eventIndex" integer, chain text, environment text, "organizationId" text))`);
  return rows.map(fromRow);
}

function keyOf({ organizationId, environment, chain, transactionHash, eventIndex }: EventKey): EventKey {
  return { organizationId, environment, chain, transactionHash, eventIndex };
}

export async function recordsOfRelay(reads: Reads, relayId: string): Promise<TransactionRecord[]> {
  const rows = await reads.rows<Row>(sql`
    select ${recordColumns} from transactions where relay_id = ${relayId}
    order by call_index, id limit ${MAX_RECORDS_OF_ONE}`);
  return rows.map(fromRow);
}

type RecordedOutcome = Pick<RelayOutcome, 'relayId' | 'environment' | 'account' | 'hash'>;

/** Of each relay, in the order of its calls, and of others for the same transaction. */
export async function recordsOfOutcomes(tx: Db, outcomes: readonly RecordedOutcome[]): Promise<OutcomeRecord[][]> {
  const relayIds = outcomes.map(({ relayId }) => relayId);
  const hashes = outcomes.flatMap(({ hash }) => (hash === undefined ? [] : toHex(hash)));
  const accountOf = ({ environment, account }: RecordedOutcome) => `${environment} ${addressOf(account)}`;
  const accounts = outcomes.map(({ account }) => addressOf(account));
  const environments = [...new Set(outcomes.map(({ environment }) => environment))];
  const rows = await tx.rows<Row & { readonly undeployed: readonly string[] }>(sql`
    select ${recordColumns}, array(
             select environment || ' ' || address from wallets
              where environment = any (${environments}) and address = any (${accounts})
                and deployment <> 'DEPLOYED') as undeployed
      from transactions
     where relay_id = any (${relayIds}) or (
       transaction_hash = any (${hashes}) and chain = 'STARKNET' and type <> 'SKU_PURCHASE')
     order by call_index, id limit ${MAX_RECORDS_OF_ONE * outcomes.length}`);
  const records = rows.map(({ undeployed, ...row }) => ({ record: fromRow(row), undeployed }));
  return outcomes.map((outcome) => {
    const { relayId, environment, hash } = outcome;
    const hasHash = ({ transactionHash, environment: own }: TransactionRecord) =>
      hash !== undefined && transactionHash === toHex(hash) && own === environment;
    return records
      .filter(({ record }) => record.relayId === relayId || hasHash(record))
      .map(({ record, undeployed }) => ({ ...record, lacksAccount: undeployed.includes(accountOf(outcome)) }));
  });
}

export interface OutcomeRecord extends TransactionRecord {
  /** The relay's wallet is not known to be deployed. */
  readonly lacksAccount: boolean;
}

interface OfHash {
  readonly environment: Environment;
  /** Undefined: of all organisations. */
  readonly organizationId?: string | undefined;
  /** Includes the purchase that the transaction paid for. */
  readonly withPurchase?: boolean;
}

export async function recordsByHash(
  reads: Reads,
  { environment, organizationId, withPurchase = false }: OfHash,
  chain: Chain,
  hash: string,
): Promise<TransactionRecord[]> {
  const owned = organizationId === undefined ? sql`` : sql`and organization_id = ${organizationId}`;
  const withoutPurchases = withPurchase ? sql`` : sql`and type <> 'SKU_PURCHASE'`;
  const rows = await reads.rows<Row>(sql`
    select ${recordColumns} from transactions
    where transaction_hash = ${hash} and chain = ${chain} and environment = ${environment} ${owned} ${withoutPurchases}
    order by organization_id, call_index, event_index, id limit ${MAX_RECORDS_OF_ONE}`);
  return rows.map(fromRow);
}

export async function recordById(
  reads: Reads,
  { organizationId, environment }: RecordOwner,
  id: string,
): Promise<TransactionRecord | undefined> {
  const row = await reads.one<Row>(sql`
    select ${recordColumns} from transactions
    where id = ${id} and organization_id = ${organizationId} and environment = ${environment}`);
  return row && fromRow(row);
}

export async function recordsAbove(
  reads: Reads,
  environment: Environment,
  chain: Chain,
  blockNumber: number,
  limit = MAX_RECORDS_OF_ONE,
): Promise<TransactionRecord[]> {
  const rows = await reads.rows<Row>(sql`
    select ${recordColumns} from transactions
    where environment = ${environment} and chain = ${chain} and block_number > ${blockNumber}
    order by block_number, id limit ${limit}`);
  return rows.map(fromRow);
}

/** Omitted fields stay. */
export interface RecordChange {
  readonly status: TxStatus;
  readonly type?: TxType | undefined;
  readonly subType?: TxSubType | undefined;
  readonly transactionHash?: string | undefined;
  readonly eventIndex?: number | undefined;
  readonly blockNumber?: number | undefined;
  readonly confirmedAt?: Date | undefined;
  readonly revertReason?: string | undefined;
  readonly senderWalletId?: string | undefined;
  readonly destinationWalletId?: string | undefined;
}

type RecordEvent = EventType & ('transaction.confirmed' | 'transaction.failed' | 'transfer.received');
type Reported = Pick<TransactionRecord, 'type' | 'status' | 'destinationWalletId'>;

/** The events that hold for a record. A purchase has its own. */
export function eventsOf({ type, status, destinationWalletId }: Reported): RecordEvent[] {
  if (type === 'SKU_PURCHASE') return [];
  if (status === 'FAILED') return ['transaction.failed'];
  if (status !== 'SUCCESS') return [];
  const sent = type === 'RECEIVE' ? [] : (['transaction.confirmed'] as const);
  return destinationWalletId === undefined ? [...sent] : [...sent, 'transfer.received'];
}

interface ChangedRecord {
  readonly record: TransactionRecord;
  /** Undefined for a new record. */
  readonly before?: Reported | undefined;
}

/** Of each record the events that did not hold before. One without a hash is hidden, and its request has failed. */
async function publishChanges(tx: Db, changed: readonly ChangedRecord[]): Promise<void> {
  const events = changed.flatMap(({ record, before }) => {
    const { id, organizationId, environment } = record;
    if (record.transactionHash === undefined) return [];
    const known = before ? eventsOf(before) : [];
    const types = eventsOf(record).filter((type) => !known.includes(type));
    // After a reorganisation the same event may be true for a second time.
    const subject = known.length > 0 ? undefined : id;
    return types.map((type) => ({ organizationId, environment, type, subject, data: toTransaction(record) }));
  });
  await publishEvents(tx, events);
}

interface ChangeOptions {
  readonly reorganised?: boolean;
}

/** In a transaction: the events are other rows. Undefined, without change, where the transition is not allowed. */
export async function changeRecord(
  tx: Db,
  id: string,
  change: RecordChange,
  options: ChangeOptions = {},
): Promise<TransactionRecord | undefined> {
  return (await changeRecords(tx, new Map([[id, change]]), options))[0];
}

/** By their ids. Answers those that changed, in the same order. */
export async function changeRecords(
  tx: Db,
  changes: ReadonlyMap<string, RecordChange>,
  options: ChangeOptions = {},
): Promise<TransactionRecord[]> {
  const all = [...changes];
  const changed: TransactionRecord[] = [];
  for (let start = 0; start < all.length; start += MAX_RECORDS_A_STATEMENT) {
    changed.push(...(await changeSome(tx, all.slice(start, start + MAX_RECORDS_A_STATEMENT), options)));
  }
  return changed;
}

async function changeSome(
  tx: Db,
  changes: readonly (readonly [string, RecordChange])[],
  options: ChangeOptions,
): Promise<TransactionRecord[]> {
  const ids = changes.map(([id]) => id);
  const given = changes.map(([recordId, { status: newStatus, type: newType, revertReason, ...change }]) => ({
    ...change,
    recordId,
    newStatus,
    newType,
    before: statusesBefore(newStatus, options),
    revertReason: revertReason && storableText(revertReason, MAX_REVERT_REASON),
  }));
  const rows = await tx.rows<ChangedRow>(sql`
    with before as materialized (
      select id as "idBefore", type as "typeBefore", status as "statusBefore", destination_wallet_id as "walletBefore"
        from transactions where id = any (${ids}) order by id for no key update)
    update transactions set
      status = "newStatus",
      type = coalesce("newType", type),
      sub_type = coalesce(given."subType", sub_type),
      transaction_hash = coalesce(given."transactionHash", transaction_hash),
      event_index = coalesce(given."eventIndex", event_index),
      block_number = coalesce(given."blockNumber", block_number),
      confirmed_at = case when "newStatus" = 'SUCCESS' then coalesce(given."confirmedAt", confirmed_at) end,
      revert_reason = case when "newStatus" = 'FAILED' then coalesce(given."revertReason", revert_reason) end,
      sender_wallet_id = coalesce(given."senderWalletId", sender_wallet_id),
      destination_wallet_id = coalesce(given."destinationWalletId", destination_wallet_id),
      updated_at = greatest(created_at, now())
    from before join jsonb_to_recordset(${JSON.stringify(given)}::jsonb) as given (
        "recordId" text, before text[], "newStatus" text, "newType" text, "subType" text, "transactionHash" text,
        "eventIndex" integer, "blockNumber" bigint, "confirmedAt" timestamptz, "revertReason" text, "senderWalletId" text,
        "destinationWalletId" text)
      on "recordId" = "idBefore"
    where id = any (${ids}) and id = "idBefore" and status = any (given.before)
    returning ${recordColumns}, "typeBefore", "statusBefore", "walletBefore"`);
  const byId = new Map(rows.map((row) => [row.id, row]));
  const changed = ids.flatMap((id) => {
    const row = byId.get(id);
    if (!row) return [];
    const { typeBefore: type, statusBefore: status, walletBefore } = row;
    return [{ record: fromRow(row), before: { type, status, destinationWalletId: walletBefore ?? undefined } }];
  });
  await publishChanges(tx, changed);
  return changed.map(({ record }) => record);
}

interface ChangedRow extends Row {
  readonly typeBefore: TxType;
  readonly statusBefore: TxStatus;
  readonly walletBefore: string | null;
}

export async function markRecorded(tx: Db, id: string): Promise<boolean> {
  const marked = await tx.run(sql`
    update transactions set recorded_at = now() where id = ${id} and recorded_at is null`);
  return marked === 1;
}

/** No ownership check: for jobs only. */
export async function recordToConfirm(reads: Reads, id: string): Promise<TransactionRecord | undefined> {
  const row = await reads.one<Row>(sql`select ${recordColumns} from transactions where id = ${id}`);
  return row && fromRow(row);
}

/** A page of events has a thousand transactions with a few records each. */
const MAX_RECORDS = 100_000;

/** Of all organisations, without purchases. */
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

/** Before they are set again one by one: after a reorganisation two records may swap their events. */
export async function clearEventsOfRelay(tx: Db, relayId: string): Promise<void> {
  await tx.run(sql`
    update transactions set event_index = null where relay_id = ${relayId} and event_index is not null`);
}

/** For paymasters, which answer the hash after the records are stored. */
export async function setHashOfRelay(db: Db, relayId: string, hash: string): Promise<void> {
  await db.run(sql`
    update transactions set transaction_hash = ${hash}, updated_at = greatest(created_at, now())
     where relay_id = ${relayId} and transaction_hash is null`);
}
