import type { Environment } from '@svc/protocol';
import { selector, toHex } from '@svc/starknet';
import { type Db, type Reads, sql } from '@svc/store';
import { padAddress } from '../chains/starknet/chain.ts';
import { enqueueMany } from '../jobs/job.ts';
import { findRelayByHash } from '../relayer/relay-store.ts';
import { isTransferOf } from '../transactions/chain-transaction.ts';
import type { NewRecord, TransactionRecord } from '../transactions/record.ts';
import { confirmJob } from '../transactions/record-send.ts';
import {
  changeRecord,
  insertRecords,
  recordsByHashes,
  recordsOfRelay,
  recordToConfirm,
} from '../transactions/record-store.ts';
import type { WalletRecord } from '../wallets/wallet.ts';
import { type IndexerContext, lockCursor } from './indexer.ts';
import type { PlacedTransfer, TimedTransfer, Wallets } from './scan-blocks.ts';

export interface StoredTransfers {
  readonly ids: ReadonlySet<string>;
  readonly added: ReadonlySet<string>;
}

export async function storeTransfers(
  tx: Db,
  place: HistoryScope,
  owned: readonly OwnedTransfer<TimedTransfer>[],
): Promise<StoredTransfers> {
  const { records, displaced } = await knownRecords(tx, place, owned);
  const known = new Set([...records.values()].map(({ id }) => id));
  await detachEvents(tx, displaced, known);
  for (const [{ transfer }, record] of records) await confirm(tx, transfer, record);
  await deleteUnconfirmed(tx, [...known]);
  const missing = await withoutPoolFees(
    tx,
    place,
    owned.filter((one) => !records.has(one)),
  );
  const stored = await insertRecords(
    tx,
    missing.map((one) => recordOf(one, place.wallets)),
    { newsAbove: place.newsAbove },
  );
  const added = new Set(stored.map(({ id }) => id));
  return { ids: new Set([...known, ...added]), added };
}

/** The sponsor's STRK that the wallet pays on to the pool in the same transaction is no income. */
async function withoutPoolFees(
  tx: Db,
  { chainId }: HistoryScope,
  owned: readonly OwnedTransfer<TimedTransfer>[],
): Promise<readonly OwnedTransfer<TimedTransfer>[]> {
  const strk = owned.filter(({ transfer }) => transfer.known.token === 'STRK');
  if (strk.length === 0) return owned;
  const rows = await tx.rows<{ hash: string; account: string; fee: string }>(sql`
    select attempt.hash, relays.account, relays.pool_fee as fee
      from relay_attempts as attempt join relays on relays.id = attempt.relay_id
     where attempt.chain_id = ${toHex(chainId)} and relays.pool_fee > 0 and relays.account is not null
       and attempt.hash = any(${strk.map(({ transfer }) => toHex(transfer.transactionHash))}::text[])`);
  const isFee = ({ transfer }: OwnedTransfer) =>
    rows.some(({ hash, account, fee }) => {
      const isPaid = transfer.from === BigInt(account) && transfer.amount === BigInt(fee);
      return isPaid && transfer.transactionHash === BigInt(hash);
    });
  return owned.filter((one) => one.transfer.known.token !== 'STRK' || !isFee(one));
}

/** The chain decides about receives, and about sends made elsewhere that had failed. Other records are ended by their own jobs. */
async function confirm(tx: Db, transfer: TimedTransfer, record: TransactionRecord): Promise<void> {
  const { eventIndex, blockNumber, time } = transfer;
  const same =
    record.status === 'SUCCESS' &&
    record.eventIndex === eventIndex &&
    record.blockNumber === blockNumber &&
    record.confirmedAt?.getTime() === time.getTime();
  const isBack = record.type === 'SEND' && record.relayId === undefined && record.status === 'FAILED';
  if ((record.type !== 'RECEIVE' && !isBack) || same) return;
  await changeRecord(
    tx,
    record.id,
    { status: 'SUCCESS', eventIndex, blockNumber, confirmedAt: time },
    { reorganised: true },
  );
}

function recordOf({ transfer, owner }: OwnedTransfer<TimedTransfer>, wallets: Wallets): NewRecord {
  const ownId = (address: bigint) => {
    const wallet = wallets.get(address);
    return wallet?.organizationId === owner.organizationId ? wallet.id : undefined;
  };
  const { organizationId, environment, apiPublicKey } = owner;
  const [senderWalletId, destinationWalletId] = [ownId(transfer.from), ownId(transfer.to)];
  return {
    organizationId,
    environment,
    apiPublicKey,
    // One record serves both histories; a send must not look like income.
    type: senderWalletId === undefined ? 'RECEIVE' : 'SEND',
    subType: 'TRANSFER',
    chain: 'STARKNET',
    transactionHash: toHex(transfer.transactionHash),
    eventIndex: transfer.eventIndex,
    relayId: undefined,
    callIndex: undefined,
    senderAddress: padAddress(transfer.from),
    destinationAddress: padAddress(transfer.to),
    contractAddress: padAddress(transfer.token),
    contractName: transfer.known.token,
    functionName: 'transfer',
    functionSelector: toHex(selector('transfer')),
    token: transfer.known.token,
    tokenAddress: padAddress(transfer.token),
    amount: transfer.amount,
    status: 'SUCCESS',
    blockNumber: transfer.blockNumber,
    senderWalletId,
    destinationWalletId,
    createdAt: transfer.time,
    confirmedAt: transfer.time,
  };
}

export interface OwnedTransfer<T extends PlacedTransfer = PlacedTransfer> {
  readonly transfer: T;
  readonly owner: WalletRecord;
}

export interface HistoryScope {
  readonly environment: Environment;
  readonly chainId: bigint;
  readonly wallets: Wallets;
  /** All transfers of each block are given, so that of equal ones none is missing. */
  readonly wholeBlocks: boolean;
  /** Pays what wallets take out of it. */
  readonly pool?: string | undefined;
  /** Transfers in higher blocks are new to everyone; others are history. Undefined: all are new. */
  readonly newsAbove?: number | undefined;
}

export interface Known<T extends OwnedTransfer> {
  readonly records: ReadonlyMap<T, TransactionRecord>;
  readonly displaced: readonly TransactionRecord[];
}

export async function knownRecords<T extends OwnedTransfer>(
  reads: Reads,
  place: HistoryScope,
  owned: readonly T[],
): Promise<Known<T>> {
  const hashes = owned.map(({ transfer }) => transfer.transactionHash);
  const records = group(await recordsByHashes(reads, place.environment, hashes), (record) =>
    groupName(record.organizationId, BigInt(record.transactionHash ?? 0)),
  );
  const known = new Map<T, TransactionRecord>();
  const displaced: TransactionRecord[] = [];
  for (const [name, transfers] of group(owned, nameOf)) {
    const own = records.get(name) ?? [];
    const free = new Set(own);
    match(known, transfers, free, (one, record) => isAtPlace(one, record) && isSame(one, record));
    // A relay's record gets its event when the relay ends.
    match(known, transfers, free, (one, record) => record.eventIndex === undefined && isSame(one, record));
    // A reorganisation moved the event within the transaction.
    if (place.wholeBlocks) match(known, transfers, free, isSame);
    const relayed = await recordsOfItsRelay(
      reads,
      place,
      transfers.find((one) => !known.has(one)),
    );
    match(known, transfers, new Set(relayed), isSame);
    displaced.push(
      ...own.filter((record) => transfers.some((one) => isAtPlace(one, record) && known.get(one) !== record)),
    );
  }
  return { records: known, displaced };
}

/** Records with the hash of another attempt of the same relay: its fee was bumped, or it has to end again. */
async function recordsOfItsRelay(
  reads: Reads,
  { chainId, wallets, pool = '0x0' }: HistoryScope,
  unknown: OwnedTransfer | undefined,
): Promise<TransactionRecord[]> {
  if (!unknown) return [];
  const { transfer, owner } = unknown;
  const isOwn = wallets.get(transfer.from)?.organizationId === owner.organizationId;
  if (!isOwn && transfer.from !== BigInt(pool)) return [];
  const relay = await findRelayByHash(reads, chainId, transfer.transactionHash);
  const records = relay ? await recordsOfRelay(reads, relay.id) : [];
  return records.filter(({ transactionHash }) => transactionHash !== toHex(transfer.transactionHash));
}

function isAtPlace({ transfer }: OwnedTransfer, record: TransactionRecord): boolean {
  return record.eventIndex === transfer.eventIndex;
}

function isSame({ transfer }: OwnedTransfer, record: TransactionRecord): boolean {
  return isTransferOf(record, transfer);
}

function match<T extends OwnedTransfer>(
  known: Map<T, TransactionRecord>,
  transfers: readonly T[],
  free: Set<TransactionRecord>,
  fits: (one: T, record: TransactionRecord) => boolean,
): void {
  for (const one of transfers) {
    if (known.has(one)) continue;
    const record = [...free].find((candidate) => fits(one, candidate));
    if (!record) continue;
    known.set(one, record);
    free.delete(record);
  }
}

const groupName = (organizationId: string, hash: bigint) => `${organizationId} ${hash}`;
const nameOf = ({ transfer, owner }: OwnedTransfer) => groupName(owner.organizationId, transfer.transactionHash);

function group<T>(items: readonly T[], name: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const own = groups.get(name(item));
    if (own) own.push(item);
    else groups.set(name(item), [item]);
  }
  return groups;
}

const OTHERWISE = 'The chain took back this transfer, and the transaction was executed again with another outcome.';

/** A stored amount never changes: records outside `known` fail, and the transfer in their place gets a new record. */
export async function detachEvents(
  tx: Db,
  records: readonly TransactionRecord[],
  known: ReadonlySet<string>,
): Promise<void> {
  if (records.length === 0) return;
  const ids = records.map(({ id }) => id);
  await tx.run(sql`update transactions set event_index = null, updated_at = now() where id = any(${ids})`);
  const missing = records.filter(({ id }) => !known.has(id));
  for (const { id, type } of missing) {
    if (type !== 'RECEIVE') continue;
    await changeRecord(tx, id, { status: 'FAILED', revertReason: OTHERWISE }, { reorganised: true });
  }
  await recheckSends(tx, missing);
}

/** A reorganised transaction is usually included again within seconds. */
export const RETURN_MS = 60_000;
const MAX_FAILED_AT_ONCE = 500;

const GONE = 'The chain took back the block of this transfer, and it did not come again.';

export interface Unconfirmed {
  readonly id: string;
  readonly blockNumber: number;
}

export async function markUnconfirmed(
  tx: Db,
  chainId: string,
  records: readonly Unconfirmed[],
  since: Date,
): Promise<void> {
  const ids = records.map(({ id }) => id);
  const numbers = records.map(({ blockNumber }) => blockNumber);
  await tx.run(sql`
    insert into unconfirmed_receives (transaction_id, chain_id, block_number, since)
    select id, ${chainId}, number, ${since} from unnest(${ids}::text[], ${numbers}::bigint[]) as record (id, number)
    on conflict (transaction_id) do nothing`);
}

export async function deleteUnconfirmed(tx: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.run(sql`delete from unconfirmed_receives where transaction_id = any(${ids})`);
}

/** Receives that the new chain does not have. Should one come back, it succeeds again. */
export async function failUnconfirmed({ db, chainId, now }: IndexerContext): Promise<void> {
  const before = new Date(now() - RETURN_MS);
  await db.tx(async (tx) => {
    const cursor = await lockCursor(tx, chainId);
    if (!cursor) return;
    const missing = await tx.rows<{ transaction_id: string }>(sql`
      delete from unconfirmed_receives where transaction_id in (
        select transaction_id from unconfirmed_receives
         where chain_id = ${chainId} and since <= ${before} and block_number <= ${cursor.number}
         order by since limit ${MAX_FAILED_AT_ONCE})
      returning transaction_id`);
    for (const { transaction_id: id } of missing) {
      // Its sender may have recorded it meanwhile; then it has another type.
      if ((await recordToConfirm(tx, id))?.type !== 'RECEIVE') continue;
      await changeRecord(tx, id, { status: 'FAILED', revertReason: GONE }, { reorganised: true });
    }
  });
}

const JOBS_AT_ONCE = 1_000;

/** For records without a relay. Relays recheck their own, and receives are found by the scan. */
export async function recheckSends(tx: Db, records: readonly TransactionRecord[]): Promise<void> {
  const jobs = records.filter(({ relayId, type }) => relayId === undefined && type !== 'RECEIVE').map(confirmJob);
  for (let start = 0; start < jobs.length; start += JOBS_AT_ONCE) {
    await enqueueMany(tx, jobs.slice(start, start + JOBS_AT_ONCE));
  }
}
