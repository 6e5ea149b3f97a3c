import { selector, toHex } from '@svc/starknet';
import type { Db } from '@svc/store';
import { padded } from '../relayer/spelling.ts';
import type { NewRecord, TransactionRecord } from '../transactions/record.ts';
import { changeRecord, insertRecords } from '../transactions/records.ts';
import { type HistoryPlace, knownRecords, type OwnedTransfer } from './known-records.ts';
import type { Wallets } from './own-wallets.ts';
import type { TimedTransfer } from './seen-transfers.ts';
import { forgetUnconfirmed } from './unconfirmed.ts';

export interface Kept {
  /** The records of all the transfers. */
  readonly ids: ReadonlySet<string>;
  /** How many the history did not have. */
  readonly added: number;
}

/** Makes sure that the history has each of these transfers, once. */
export async function keepTransfers(
  tx: Db,
  place: HistoryPlace,
  owned: readonly OwnedTransfer<TimedTransfer>[],
): Promise<Kept> {
  const known = await knownRecords(tx, place, owned);
  for (const [{ transfer }, record] of known) await confirm(tx, transfer, record);
  await forgetUnconfirmed(
    tx,
    [...known.values()].map(({ id }) => id),
  );
  const missing = owned.filter((one) => !known.has(one));
  const added = await insertRecords(
    tx,
    missing.map((one) => recordOf(one, place.wallets)),
  );
  return { ids: new Set([...known.values(), ...added].map(({ id }) => id)), added: added.length };
}

/** What was received is known from the chain alone, so the chain says how it stands. All other records are settled by their own. */
async function confirm(tx: Db, transfer: TimedTransfer, record: TransactionRecord): Promise<void> {
  const { eventIndex, blockNumber, time } = transfer;
  const same =
    record.status === 'SUCCESS' &&
    record.eventIndex === eventIndex &&
    record.blockNumber === blockNumber &&
    record.confirmedAt?.getTime() === time.getTime();
  if (record.type !== 'RECEIVE' || same) return;
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
  return {
    organizationId,
    environment,
    apiPublicKey,
    type: BigInt(owner.address) === transfer.from ? 'SEND' : 'RECEIVE',
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
    senderWalletId: ownId(transfer.from),
    destinationWalletId: ownId(transfer.to),
    createdAt: transfer.time,
    confirmedAt: transfer.time,
  };
}
