import { ApiError, type endpoints, parseStarknetAddress } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { type Db, sql } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import { tokensOf } from '../chains/tokens.ts';
import { type Answer, type Call, type Caller, publicKeyOf } from '../http/call.ts';
import { readAddress } from '../http/validation.ts';
import { enqueue } from '../jobs/job.ts';
import { findRelayByHash } from '../relayer/relay-store.ts';
import { requireWallet, walletsAt } from '../wallets/wallet.ts';
import {
  awaitExecuted,
  type ChainTransaction,
  type ChainTransfer,
  type ExpectedTransfer,
  isTransferOf,
  readExpected,
  requireTransfer,
} from './chain-transaction.ts';
import { confirmJob } from './confirm.ts';
import type { TransactionDeps } from './execute.ts';
import { TRANSFER, TRANSFER_FUNCTION } from './function-names.ts';
import { type NewRecord, type TransactionRecord, toTransaction } from './record.ts';
import { changeRecord, insertRecords, markRecorded, recordsByHash, recordsOfRelay } from './record-store.ts';

type RecordSend = typeof endpoints.recordSend;

/** Records a transfer that was executed without us, once the chain shows it. */
export async function recordSend(
  deps: TransactionDeps,
  { caller, body, transact }: Call<RecordSend>,
): Promise<Answer<RecordSend>> {
  const { networks } = deps;
  if (body.chain !== 'STARKNET' && caller.proof !== 'secret key') {
    throw new ApiError(
      'secret_key_required',
      `Wallets live on STARKNET: a transfer on ${body.chain} needs the secret key.`,
    );
  }
  const expected = readExpected(networks, caller.environment, body);
  await requireOwnSender(deps, caller, expected);
  const onChain = await awaitExecuted(deps, caller.environment, expected);
  const { chain } = expected;
  const tokens = chain === 'STARKNET' ? networks.starknet(caller.environment).tokens : tokensOf('mainnet', chain);
  const transfer = requireTransfer(expected, onChain.transfers, tokens);
  const record = await newSend(deps, caller, expected, onChain, transfer);
  return transact(async (tx) => toTransaction(await storeSend(tx, networks, record, transfer, onChain)));
}

async function requireOwnSender({ db }: TransactionDeps, caller: Caller, { sender }: ExpectedTransfer): Promise<void> {
  if (caller.proof !== 'user token') return;
  await requireWallet(db.reads, caller, readAddress(sender, 'body.expectedSender'));
}

const EVM_TRANSFER_FUNCTION = '0xa9059cbb';

export async function newSend(
  { db, now = Date.now }: TransactionDeps,
  caller: Caller,
  { chain, hash, sender, recipient, token, amount }: ExpectedTransfer,
  { blockNumber, time }: ChainTransaction,
  { eventIndex }: ChainTransfer,
): Promise<NewRecord> {
  const wallets =
    chain === 'STARKNET' ? await walletIds(db.reads, caller, [sender, recipient]) : new Map<string, string>();
  const selector = chain === 'STARKNET' ? toHex(TRANSFER_FUNCTION) : EVM_TRANSFER_FUNCTION;
  const contract = token.address ?? undefined;
  return {
    organizationId: caller.organizationId,
    environment: caller.environment,
    apiPublicKey: publicKeyOf(caller),
    type: 'SEND',
    subType: 'TRANSFER',
    chain,
    transactionHash: hash,
    eventIndex,
    relayId: undefined,
    callIndex: undefined,
    senderAddress: sender,
    destinationAddress: recipient,
    contractAddress: contract,
    contractName: contract && token.token,
    functionName: contract && TRANSFER,
    functionSelector: contract && selector,
    token: token.token,
    tokenAddress: contract,
    amount,
    status: 'PENDING',
    blockNumber,
    senderWalletId: wallets.get(sender),
    destinationWalletId: wallets.get(recipient),
    createdAt: time ?? new Date(now()),
    confirmedAt: undefined,
  };
}

async function walletIds(
  reads: TransactionDeps['db']['reads'],
  { organizationId, environment }: Caller,
  parties: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const addresses = parties.flatMap((party) => {
    const address = parseStarknetAddress(party);
    return address.ok ? [address.value] : [];
  });
  const wallets = await walletsAt(reads, environment, addresses);
  return new Map(
    wallets.filter((wallet) => wallet.organizationId === organizationId).map(({ address, id }) => [address, id]),
  );
}

/** The first recording answers `PENDING` even where the indexer or a relay has stored the end; later ones answer the record as it is. */
export async function storeSend(
  tx: Db,
  networks: Pick<Networks, 'starknet'>,
  record: NewRecord,
  transfer: ChainTransfer,
  onChain: ChainTransaction,
): Promise<TransactionRecord> {
  // No constraint covers transfers without an event.
  await tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${`svc send ${record.transactionHash}`}, 0))`);
  const known = await knownRecord(tx, networks, record, transfer);
  const [stored] = known ? [known] : await insertRecords(tx, [record]);
  if (!stored) throw new Error('A record was not stored.');
  const current = await applyChain(tx, stored, record, onChain);
  if (current.type === 'SEND' && current.status !== 'SUCCESS' && current.relayId === undefined) {
    await enqueue(tx, confirmJob(current));
  }
  const isFirst = await markRecorded(tx, current.id);
  return isFirst ? { ...current, status: 'PENDING', confirmedAt: undefined } : current;
}

async function knownRecord(
  tx: Db,
  networks: Pick<Networks, 'starknet'>,
  record: NewRecord,
  transfer: ChainTransfer,
): Promise<TransactionRecord | undefined> {
  const { chain, environment, organizationId, transactionHash } = record;
  if (transactionHash === undefined) return undefined;
  const records = await recordsByHash(tx, { environment, organizationId }, chain, transactionHash);
  if (chain === 'STARKNET') records.push(...(await relayed(tx, networks, record, BigInt(transactionHash))));
  return (
    records.find(({ eventIndex }) => eventIndex !== undefined && eventIndex === record.eventIndex) ??
    // A relay's calls have no events before it ends; native coins never have one.
    records.find((other) => other.eventIndex === undefined && isTransferOf(other, transfer))
  );
}

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

/** A receive becomes a send for its reporter. A record that failed in a reorganisation succeeds again. */
async function applyChain(
  tx: Db,
  stored: TransactionRecord,
  { senderWalletId, destinationWalletId }: NewRecord,
  { accepted, blockNumber, time }: ChainTransaction,
): Promise<TransactionRecord> {
  const isBack = accepted && stored.status === 'FAILED' && stored.relayId === undefined;
  if (stored.type !== 'RECEIVE' && !(stored.type === 'SEND' && isBack)) return stored;
  const sent = { type: 'SEND', subType: 'TRANSFER', senderWalletId, destinationWalletId } as const;
  const change = isBack
    ? ({ ...sent, status: 'SUCCESS', blockNumber, confirmedAt: time } as const)
    : { ...sent, status: stored.status };
  return (await changeRecord(tx, stored.id, change, { reorganised: true })) ?? stored;
}
