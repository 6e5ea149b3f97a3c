import {
  ApiError,
  type Environment,
  formatUsd,
  parseSolanaAddress,
  type SolanaAddress,
  type SolanaTransfer,
  type SolanaTransferStatus,
  type StarknetAddress,
  solanaTransferStatuses,
} from '@svc/protocol';
import { type Db, type Reads, type Sql, sql } from '@svc/store';
import type { Burn } from '../bridge/bridge.ts';
import { type BurnFacts, estimatedSeconds } from '../bridge/follow-burn.ts';
import type { NewJob } from '../jobs/job.ts';

type Machine = Readonly<Record<SolanaTransferStatus, readonly SolanaTransferStatus[]>>;

export const nextStatuses: Machine = {
  PENDING: ['BRIDGING', 'FAILED'],
  BRIDGING: ['ATTESTED', 'STUCK'],
  ATTESTED: ['SUCCESS', 'STUCK'],
  SUCCESS: [],
  FAILED: [],
  STUCK: [],
};

/** A reorganisation can take a burn back that was not attested yet, and execute one that had failed. */
export const reorganisations: Machine = {
  PENDING: [],
  BRIDGING: ['FAILED'],
  ATTESTED: [],
  SUCCESS: [],
  FAILED: ['BRIDGING'],
  STUCK: ['FAILED'],
};

/** By the operator. */
export const resumptions: Machine = {
  PENDING: [],
  BRIDGING: [],
  ATTESTED: [],
  SUCCESS: [],
  FAILED: [],
  STUCK: ['BRIDGING', 'ATTESTED'],
};

export const isUnderWay = (status: SolanaTransferStatus): boolean => nextStatuses[status].length > 0;

export interface TransferRow {
  readonly id: string;
  readonly organizationId: string;
  readonly environment: Environment;
  readonly walletId: string;
  readonly walletAddress: StarknetAddress;
  readonly recipient: string;
  readonly amount: bigint;
  readonly maxFee: bigint;
  readonly fast: boolean;
  readonly status: SolanaTransferStatus;
  readonly reason: string | null;
  readonly relayId: string;
  readonly transactionHash: string | null;
  readonly receiveHash: string | null;
  readonly facts: BurnFacts;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export const transferColumns = sql`
  id, organization_id as "organizationId", environment, wallet_id as "walletId", wallet_address as "walletAddress",
  recipient, amount, max_fee as "maxFee", fast, status, reason, relay_id as "relayId",
  transaction_hash as "transactionHash", receive_hash as "receiveHash", facts, created_at as "createdAt",
  updated_at as "updatedAt"`;

export const findTransfer = (reads: Pick<Reads, 'one'>, which: Sql): Promise<TransferRow | undefined> =>
  reads.one(sql`select ${transferColumns} from solana_transfers where ${which}`);

export const lockTransfer = (tx: Db, which: Sql): Promise<TransferRow | undefined> =>
  tx.one(sql`select ${transferColumns} from solana_transfers where ${which} for no key update`);

export interface NewTransfer
  extends Pick<TransferRow, 'id' | 'organizationId' | 'environment' | 'walletId' | 'walletAddress' | 'recipient'>,
    Pick<TransferRow, 'amount' | 'maxFee' | 'fast' | 'relayId' | 'transactionHash'> {
  readonly nonce: string;
}

/** More would only keep the bridge busy. */
const MAX_UNDER_WAY = 20;

export async function insertTransfer(tx: Db, transfer: NewTransfer): Promise<void> {
  const { id, organizationId, environment, walletId, walletAddress, nonce, recipient, amount, maxFee, fast } = transfer;
  const row = await tx.one<{ count: number }>(sql`
    select count(*)::integer as count from solana_transfers
     where wallet_id = ${walletId} and status in ('PENDING', 'BRIDGING', 'ATTESTED')`);
  if ((row?.count ?? 0) >= MAX_UNDER_WAY) throw new ApiError('solana_transfer_limit_reached');
  await tx.run(sql`
    insert into solana_transfers (id, organization_id, environment, wallet_id, wallet_address, nonce, recipient, amount,
                                  max_fee, fast, relay_id, transaction_hash)
    values (${id}, ${organizationId}, ${environment}, ${walletId}, ${walletAddress}, ${nonce}, ${recipient}, ${amount},
            ${maxFee}, ${fast}, ${transfer.relayId}, ${transfer.transactionHash})`);
}

export interface TransferChange {
  readonly to: SolanaTransferStatus;
  /** Transitions beside the usual ones. */
  readonly besides?: Machine;
  readonly reason?: string;
  readonly facts?: BurnFacts;
  readonly hash?: string | undefined;
  readonly receiveHash?: string;
}

/** False where no transition leads there from its present status. */
export async function changeTransfer(tx: Db, id: string, change: TransferChange): Promise<boolean> {
  const { to, besides, reason = null, facts = {}, hash = null, receiveHash = null } = change;
  const before = solanaTransferStatuses.filter(
    (from) => nextStatuses[from].includes(to) || besides?.[from].includes(to) === true,
  );
  const changed = await tx.run(sql`
    update solana_transfers
       set status = ${to}, reason = ${reason}, facts = facts || ${JSON.stringify(facts)}::jsonb,
           transaction_hash = coalesce(${hash}, transaction_hash), receive_hash = coalesce(${receiveHash}, receive_hash),
           updated_at = now()
     where id = ${id} and status = any(${before})`);
  return changed === 1;
}

export async function addFacts(tx: Db, id: string, facts: BurnFacts): Promise<void> {
  await tx.run(sql`
    update solana_transfers set facts = facts || ${JSON.stringify(facts)}::jsonb, updated_at = now() where id = ${id}`);
}

/** A paymaster tells it late. The outcome stores the hash that is on the chain. */
export async function setHashOfRelay(db: Db, relayId: string, hash: string): Promise<void> {
  await db.run(sql`
    update solana_transfers set transaction_hash = ${hash}, updated_at = now()
     where relay_id = ${relayId} and transaction_hash is null`);
}

export const FOLLOW_TASK = 'follow-solana-transfer';

export const followJob = ({ id, organizationId }: Pick<TransferRow, 'id' | 'organizationId'>): NewJob => ({
  task: FOLLOW_TASK,
  payload: { id },
  key: id,
  tenant: organizationId,
});

export function burnOf(row: TransferRow): Burn {
  const { id, transactionHash, walletAddress, amount, maxFee, fast } = row;
  if (transactionHash === null) throw new Error(`The transfer ${id} has no burn.`);
  const order = { amount, maxFee, fast, owner: ownerOf(row) };
  return { hash: transactionHash, sender: BigInt(walletAddress), order };
}

function ownerOf({ id, recipient }: Pick<TransferRow, 'id' | 'recipient'>): SolanaAddress {
  const owner = parseSolanaAddress(recipient);
  if (!owner.ok) throw new Error(`The recipient of the transfer ${id} ${owner.reason}.`);
  return owner.value;
}

export function toTransfer(row: TransferRow): SolanaTransfer {
  const { id, walletAddress, recipient, amount, maxFee, fast, status, reason, transactionHash, facts } = row;
  const fee = facts.feeExecuted === undefined ? null : BigInt(facts.feeExecuted);
  return {
    ...{ id, walletAddress, recipient, fast, status, reason, transactionHash },
    amount: formatUsd(amount),
    maxFee: formatUsd(maxFee),
    fee: fee === null ? null : formatUsd(fee),
    received: status === 'SUCCESS' && fee !== null ? formatUsd(amount - fee) : null,
    receiveChainTxHash: row.receiveHash,
    receiveProof: facts.receiveProof ?? null,
    estimatedSeconds: estimatedSeconds(fast),
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}
