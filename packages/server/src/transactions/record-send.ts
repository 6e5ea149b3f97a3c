import { ApiError, type endpoints, parseStarknetAddress } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { type Database, type Db, sql } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import { tokensOf } from '../chains/tokens.ts';
import { type Answer, type Call, type Caller, publicKeyOf } from '../http/call.ts';
import { readAddress } from '../http/validation.ts';
import { enqueue, enqueueMany, type JobLog, type NewJob } from '../jobs/job.ts';
import { findRelayByHash } from '../relayer/relay-store.ts';
import { requireWallet, walletsAt } from '../wallets/wallet.ts';
import {
  awaitExecuted,
  type ChainTransaction,
  type ChainTransfer,
  type ExpectedTransfer,
  isTransferOf,
  type Observation,
  observeTransaction,
  readExpected,
  requireTransfer,
} from './chain-transaction.ts';
import { TRANSFER, TRANSFER_FUNCTION } from './decode.ts';
import type { TransactionDeps } from './execute.ts';
import { type NewRecord, type TransactionRecord, toTransaction } from './record.ts';
import {
  changeRecord,
  insertRecords,
  markRecorded,
  type RecordChange,
  recordsByHash,
  recordsOfRelay,
  recordToConfirm,
} from './record-store.ts';

export const CONFIRM_TASK = 'confirm-transaction';

export interface ConfirmPayload {
  readonly id: string;
  readonly looks?: number;
  /** In milliseconds since 1970; while the chain does not know the transaction. */
  readonly missingSince?: number;
}

export interface ConfirmDeps {
  readonly db: Database;
  readonly networks: Networks;
  readonly log: JobLog;
  readonly now?: () => number;
}

const FIRST_RETRY_MS = 1_000;
/** About the block time of a slow chain. */
const MAX_RETRY_MS = 30_000;
/** Longer than nodes disagree, and longer than a transaction waits for a new block after a reorganisation. */
const GONE_AFTER_MS = 600_000;

const GONE = 'The chain no longer knows the transaction.';
const NOT_SHOWN = 'The transaction does not move what was recorded.';

export function confirmJob({ id, organizationId }: Pick<TransactionRecord, 'id' | 'organizationId'>): NewJob {
  const payload: ConfirmPayload = { id };
  return { task: CONFIRM_TASK, payload, key: id, tenant: organizationId };
}

/** Ends the record by what the chain shows, or retries later. An ended record is checked again after a reorganisation. */
export async function confirm(deps: ConfirmDeps, { id, looks = 0, missingSince }: ConfirmPayload): Promise<void> {
  const { db, networks, log, now = Date.now } = deps;
  const record = await recordToConfirm(db.reads, id);
  if (record?.transactionHash === undefined || record.type !== 'SEND' || record.relayId !== undefined) return;
  const { environment, chain, transactionHash } = record;
  // A chain that does not answer, or is not configured at the moment, is asked again without limit.
  const observation = await observeTransaction(networks, environment, chain, transactionHash).catch(
    (error: unknown): Observation => {
      log.warn({ id, chain, transactionHash, retries: looks, err: error }, 'transaction not readable, retrying');
      return 'waiting';
    },
  );
  const missing = observation === 'unknown' ? (missingSince ?? now()) : undefined;
  const end = missing === undefined ? endIn(record, observation) : endOfMissing(now() - missing);
  if (end) return endRecord(db, record, end);
  const delayMs = confirmDelayMs(looks);
  const payload = {
    id,
    looks: looks + 1,
    ...(missing !== undefined && { missingSince: missing }),
  } satisfies ConfirmPayload;
  await enqueue(db, { ...confirmJob(record), payload, runAt: new Date(now() + delayMs) });
}

const confirmDelayMs = (retries: number): number => Math.min(FIRST_RETRY_MS * 2 ** retries, MAX_RETRY_MS);

function endIn(record: TransactionRecord, observation: Observation): RecordChange | undefined {
  if (typeof observation === 'string' || !observation.accepted) return undefined;
  const { blockNumber, reverted, revertReason, transfers, time } = observation;
  if (reverted) return { status: 'FAILED', blockNumber, revertReason };
  if (transfers.some((transfer) => isTransferOf(record, transfer))) {
    return { status: 'SUCCESS', blockNumber, confirmedAt: time };
  }
  return { status: 'FAILED', blockNumber, revertReason: NOT_SHOWN };
}

function endOfMissing(sinceMs: number): RecordChange | undefined {
  return sinceMs >= GONE_AFTER_MS ? { status: 'FAILED', revertReason: GONE } : undefined;
}

async function endRecord(db: Database, record: TransactionRecord, end: RecordChange): Promise<void> {
  const { status, blockNumber, confirmedAt } = record;
  const same =
    status === end.status && blockNumber === end.blockNumber && confirmedAt?.getTime() === end.confirmedAt?.getTime();
  if (!same) await db.tx((tx) => changeRecord(tx, record.id, end, { reorganised: true }));
}

/** One statement of the queue; the next run takes the rest. */
const MAX_AT_ONCE = 1_000;

/** Requeues recorded transfers that are pending and have no job: theirs failed for good or was removed. */
export async function sweepUnconfirmed(db: Db): Promise<void> {
  await db.tx(async (tx) => {
    const records = await tx.rows<Pick<TransactionRecord, 'id' | 'organizationId'>>(sql`
      select id, organization_id as "organizationId" from transactions
       where status = 'PENDING' and type = 'SEND' and relay_id is null and transaction_hash is not null
         and not exists (
           select from jobs
            where task = ${CONFIRM_TASK} and key = transactions.id and worker is null and failed_at is null)
         and not exists (
           select from jobs where task = ${CONFIRM_TASK} and key = transactions.id and worker is not null)
       order by id limit ${MAX_AT_ONCE}`);
    await enqueueMany(tx, records.map(confirmJob));
  });
}

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

async function newSend(
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
async function storeSend(
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
