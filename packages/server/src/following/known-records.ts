import type { Environment } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import type { Reads } from '@svc/store';
import { findRelayByHash } from '../relayer/find-relay.ts';
import { isTransferOf } from '../transactions/matching.ts';
import type { TransactionRecord } from '../transactions/record.ts';
import { recordsOfRelay } from '../transactions/records.ts';
import { recordsByHashes } from '../transactions/records-by-hashes.ts';
import type { WalletRecord } from '../wallets/wallet.ts';
import type { Wallets } from './own-wallets.ts';
import type { PlacedTransfer } from './seen-transfers.ts';

/** A transfer, and the wallet in whose history it belongs. */
export interface OwnedTransfer<T extends PlacedTransfer = PlacedTransfer> {
  readonly transfer: T;
  readonly owner: WalletRecord;
}

export interface HistoryPlace {
  readonly environment: Environment;
  readonly chainId: bigint;
  readonly wallets: Wallets;
  /** Whether the transfers of whole blocks are given, so that of equal ones none is missing. */
  readonly wholeBlocks: boolean;
}

export interface Known<T extends OwnedTransfer> {
  /** Which of the transfers their organisation's history has already, and as what. */
  readonly records: ReadonlyMap<T, TransactionRecord>;
  /** Records at whose event the chain has one of the transfers by now, but another one than they tell of. */
  readonly displaced: readonly TransactionRecord[];
}

/** Compares transfers with what the history has of their transactions. */
export async function knownRecords<T extends OwnedTransfer>(
  reads: Reads,
  place: HistoryPlace,
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
    // A relay's record learns its event when the relay has ended.
    match(known, transfers, free, (one, record) => record.eventIndex === undefined && isSame(one, record));
    // A reorganisation has moved its event within the transaction.
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

/**
 * Those that carry the hash of another transaction of the same relay, because the fee was raised and the relay has not ended, or has
 * to end once more after a reorganisation. Only a wallet of the same organisation can have been the sender.
 */
async function recordsOfItsRelay(
  reads: Reads,
  { chainId, wallets }: HistoryPlace,
  unknown: OwnedTransfer | undefined,
): Promise<TransactionRecord[]> {
  if (!unknown) return [];
  const { transfer, owner } = unknown;
  if (wallets.get(transfer.from)?.organizationId !== owner.organizationId) return [];
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

/** Each record stands for one transfer. */
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
