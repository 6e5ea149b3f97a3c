import { type Db, sql } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import { enqueue } from '../jobs/enqueue.ts';
import { findRelayByHash } from '../relayer/find-relay.ts';
import { confirmJob } from './confirm.ts';
import { isTransferOf } from './matching.ts';
import type { NewRecord, TransactionRecord } from './record.ts';
import { changeRecord, insertRecords, recordsByHash, recordsOfRelay } from './records.ts';
import type { SeenTransaction, SeenTransfer } from './seen-transaction.ts';

/** Stores a transfer that the chain shows; one that is there already, in whatever way it came, is answered in its place. */
export async function storeSend(
  tx: Db,
  networks: Pick<Networks, 'starknet'>,
  record: NewRecord,
  transfer: SeenTransfer,
  seen: SeenTransaction,
): Promise<TransactionRecord> {
  // Two requests for the same transfer, which may have no event that the database could tell them apart by.
  await tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${`svc send ${record.transactionHash}`}, 0))`);
  const known = await knownRecord(tx, networks, record, transfer);
  const [stored] = known ? [known] : await insertRecords(tx, [record]);
  if (!stored) throw new Error('A record was not stored.');
  const answered = await asSeen(tx, stored, record, seen);
  // A relay's records follow the relay.
  if (answered.type === 'SEND' && answered.status !== 'SUCCESS' && answered.relayId === undefined) {
    await enqueue(tx, confirmJob(answered));
  }
  return answered;
}

async function knownRecord(
  tx: Db,
  networks: Pick<Networks, 'starknet'>,
  record: NewRecord,
  transfer: SeenTransfer,
): Promise<TransactionRecord | undefined> {
  const { chain, environment, organizationId, transactionHash } = record;
  if (transactionHash === undefined) return undefined;
  const records = await recordsByHash(tx, { environment, organizationId }, chain, transactionHash);
  if (chain === 'STARKNET') records.push(...(await relayed(tx, networks, record, BigInt(transactionHash))));
  return (
    records.find(({ eventIndex }) => eventIndex !== undefined && eventIndex === record.eventIndex) ??
    // The calls of a relay have no events before it has ended; a chain's own coin never has one.
    records.find((other) => other.eventIndex === undefined && isTransferOf(other, transfer))
  );
}

/** What we executed ourselves, by the hash of any of its transactions. */
async function relayed(
  tx: Db,
  networks: Pick<Networks, 'starknet'>,
  { environment, organizationId }: NewRecord,
  hash: bigint,
): Promise<TransactionRecord[]> {
  const relay = await findRelayByHash(tx, networks.starknet(environment).chain.chainId, hash);
  const records = relay ? await recordsOfRelay(tx, relay.id) : [];
  return records.filter((record) => record.organizationId === organizationId);
}

/**
 * What was found as money that came in is, for whoever reports it, money that went out. And what counted as lost, after a
 * reorganisation, is there again.
 */
async function asSeen(
  tx: Db,
  stored: TransactionRecord,
  { senderWalletId, destinationWalletId }: NewRecord,
  { accepted, blockNumber, time }: SeenTransaction,
): Promise<TransactionRecord> {
  const isBack = accepted && stored.status === 'FAILED' && stored.relayId === undefined;
  if (stored.type !== 'RECEIVE' && !(stored.type === 'SEND' && isBack)) return stored;
  const sent = { type: 'SEND', subType: 'TRANSFER', senderWalletId, destinationWalletId } as const;
  const change = isBack
    ? ({ ...sent, status: 'SUCCESS', blockNumber, confirmedAt: time } as const)
    : { ...sent, status: stored.status };
  return (await changeRecord(tx, stored.id, change, { reorganised: true })) ?? stored;
}
