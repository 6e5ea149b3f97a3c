import { selector, toHex } from '@svc/starknet';
import type { Db } from '@svc/store';
import { padded } from '../relayer/spelling.ts';
import type { NewRecord, TransactionRecord } from '../transactions/record.ts';
import { changeRecord, insertRecords } from '../transactions/records.ts';
import { displace } from './displaced.ts';
import { type HistoryPlace, knownRecords, type OwnedTransfer } from './known-records.ts';
import type { Wallets } from './own-wallets.ts';
import type { TimedTransfer } from './seen-transfers.ts';
import { forgetUnconfirmed } from './unconfirmed.ts';

export interface Kept {
  /** The records of all the transfers. */
  readonly ids: ReadonlySet<string>;
  /** Of those that the history did not have. */
  readonly added: ReadonlySet<string>;
}

/** Makes sure that the history has each of these transfers, once. */
export async function keepTransfers(
  tx: Db,
  place: HistoryPlace,
  owned: readonly OwnedTransfer<TimedTransfer>[],
): Promise<Kept> {
  const { records, displaced } = await knownRecords(tx, place, owned);
  const known = new Set([...records.values()].map(({ id }) => id));
  await displace(tx, displaced, known);
  for (const [{ transfer }, record] of records) await confirm(tx, transfer, record);
  await forgetUnconfirmed(tx, [...known]);
  const missing = owned.filter((one) => !records.has(one));
  const stored = await insertRecords(
    tx,
    missing.map((one) => recordOf(one, place.wallets)),
  );
  const added = new Set(stored.map(({ id }) => id));
  return { ids: new Set([...known, ...added]), added };
}

/**
 * What was received is known from the chain alone, so the chain says how it stands, and so it is with what was sent without us and
 * had failed. All other records are settled by their own.
 */
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
    // One record stands in the histories of both, and what left a wallet must not look like money that came in.
    type: senderWalletId === undefined ? 'RECEIVE' : 'SEND',
    subType: 'TRANSFER',
    chain: 'STARKNET',
    transactionHash: toHex(transfer.transactionHash),
    eventIndex: transfer.eventIndex,
    relayId: undefined,
    callIndex: undefined,
    senderAddress: padded(transfer.from),
    destinationAddress: padded(transfer.to),
    contractAddress: padded(transfer.token),
    contractName: transfer.known.token,
    functionName: 'transfer',
    functionSelector: toHex(selector('transfer')),
    token: transfer.known.token,
    tokenAddress: padded(transfer.token),
    amount: transfer.amount,
    status: 'SUCCESS',
    blockNumber: transfer.blockNumber,
    senderWalletId,
    destinationWalletId,
    createdAt: transfer.time,
    confirmedAt: transfer.time,
  };
}
