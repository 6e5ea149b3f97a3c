import { toHex, walletClass } from '@svc/starknet';
import { type Database, type Db, sql } from '@svc/store';
import type { Bridge } from '../bridge/bridge.ts';
import { type FollowedBurn, followBurn, isPostponed, pollDelayMs } from '../bridge/follow-burn.ts';
import type { Networks } from '../chains/networks.ts';
import { transfersIn } from '../chains/starknet/chain.ts';
import { enqueue, enqueueMany, type JobLog } from '../jobs/job.ts';
import type { OutcomeHandlers, RelayOutcome } from '../relayer/outcome.ts';
import { databaseTime } from '../relayer/relay-store.ts';
import { walletAt } from '../wallets/wallet.ts';
import {
  addFacts,
  burnOf,
  changeTransfer,
  FOLLOW_TASK,
  findTransfer,
  followJob,
  lockTransfer,
  reorganisations,
  type TransferRow,
} from './transfer.ts';

export interface FollowTransferDeps {
  readonly db: Database;
  readonly bridge: Bridge;
  readonly log: JobLog;
  readonly now?: () => number;
}

/** One step from the stored state. Safe to repeat, also after a crash. */
export async function followTransfer(deps: FollowTransferDeps, id: string): Promise<void> {
  const { db, log } = deps;
  const row = await findTransfer(db, sql`id = ${id}`);
  if (!row || !awaitsMint(row)) return;
  const at = await databaseTime(db.reads, deps.now);
  const next = await followBurn(deps, followed(deps, row), at).catch((error: unknown) => {
    if (!isPostponed(error)) throw error;
    log.warn({ transferId: id, err: error }, 'bridge step postponed');
    return pollDelayMs(row.fast, at.getTime() - row.updatedAt.getTime());
  });
  if (next !== undefined) await enqueue(db, { ...followJob(row), runAt: new Date(Date.now() + next) });
}

const awaitsMint = ({ status }: TransferRow): boolean => status === 'BRIDGING' || status === 'ATTESTED';

function followed({ db, log }: FollowTransferDeps, row: TransferRow): FollowedBurn {
  const { id, environment, amount, maxFee, facts, updatedAt, transactionHash } = row;
  const about = { transferId: id };
  return {
    ...{ environment, facts, updatedAt, about, burn: burnOf(row), arrives: amount - maxFee },
    storeAttested: (added) => changeTransfer(db, id, { to: 'ATTESTED', facts: added }),
    countRenewal: (done, added) =>
      db.tx(async (tx) => {
        const now = await lockTransfer(tx, sql`id = ${id}`);
        if (!now || (now.facts.renewals ?? 0) !== done) return false;
        await addFacts(tx, id, added);
        return true;
      }),
    arrived: async ({ receiveHash, receiveProof }) => {
      await changeTransfer(db, id, { to: 'SUCCESS', receiveHash, facts: { receiveProof } });
    },
    stop: async (reason) => {
      const isStopped = await changeTransfer(db, id, { to: 'STUCK', reason });
      if (isStopped) log.error({ ...about, burn: transactionHash, reason }, 'transfer burned but not minted on Solana');
    },
  };
}

export interface TransferOutcomeDeps {
  readonly networks: Pick<Networks, 'token'>;
  readonly log: JobLog;
}

/** They run in the transaction that stores an outcome, and again after a reorganisation. */
export function transferOutcomes(deps: TransferOutcomeDeps): Pick<OutcomeHandlers, 'solana-transfer'> {
  return {
    'solana-transfer': async (tx, outcome) => {
      const row = await lockTransfer(tx, sql`relay_id = ${outcome.relayId}`);
      if (!row) return;
      const reason = await reasonNotBurned(tx, deps, row, outcome);
      if (reason === undefined) await markBurned(tx, row, outcome);
      else await markNotBurned(tx, deps, row, reason);
    },
  };
}

const IN_WALLET = 'The money is still in the wallet.';

/** Only the token's transfer event proves the burn. */
async function reasonNotBurned(
  tx: Db,
  { networks }: TransferOutcomeDeps,
  row: TransferRow,
  { result, receipt, account, revertReason, environment }: RelayOutcome,
): Promise<string | undefined> {
  if (result === 'VOIDED') return `The burn was never executed. ${IN_WALLET}`;
  if (result === 'REVERTED') return `The burn was reverted: ${revertReason ?? 'for no reason told'}. ${IN_WALLET}`;
  const token = BigInt(networks.token(environment, 'STARKNET', 'USDC')?.address ?? 0);
  const isBurned = (receipt ? transfersIn(receipt) : []).some(
    (transfer) => transfer.token === token && transfer.from === account && transfer.amount === row.amount,
  );
  if (isBurned) return undefined;
  const wallet = await walletAt(tx, environment, row.walletAddress);
  if (wallet && walletClass(wallet.classHash)?.atomicMulticall === false) {
    return `The wallet's class skipped the burn, which failed. ${IN_WALLET}`;
  }
  // An incomplete receipt: the relay stays open.
  throw new Error(`The receipt of the burn of ${row.id} lacks its transfer.`);
}

async function markBurned(tx: Db, row: TransferRow, outcome: RelayOutcome): Promise<void> {
  const { id, status } = row;
  const burnedAt = (outcome.confirmedAt ?? new Date()).toISOString();
  const hash = outcome.hash === undefined ? undefined : toHex(outcome.hash);
  if (status !== 'PENDING' && status !== 'FAILED') {
    // A fee bump or a reorganisation changes the hash, by which the bridge knows the burn.
    await tx.run(sql`
      update solana_transfers set transaction_hash = coalesce(${hash ?? null}, transaction_hash) where id = ${id}`);
    return addFacts(tx, id, { burnedAt });
  }
  const since = (await databaseTime(tx)).toISOString();
  await changeTransfer(tx, id, { to: 'BRIDGING', besides: reorganisations, hash, facts: { burnedAt, since } });
  await enqueue(tx, followJob(row));
}

async function markNotBurned(
  tx: Db,
  { log }: TransferOutcomeDeps,
  { id, status, facts }: TransferRow,
  reason: string,
): Promise<void> {
  // An attested burn is minted, also where the chain has removed it.
  const isOpen = facts.message === undefined;
  const gone = { burnedAt: null };
  if (isOpen && (await changeTransfer(tx, id, { to: 'FAILED', besides: reorganisations, reason, facts: gone }))) return;
  if (status !== 'FAILED') log.error({ transferId: id, status, reason }, 'burn removed from the chain');
}

const MAX_REQUEUED = 1_000;

/** Those whose job failed for good or was removed. */
export async function requeueStalledTransfers(db: Db): Promise<void> {
  await db.tx(async (tx) => {
    const rows = await tx.rows<Pick<TransferRow, 'id' | 'organizationId'>>(sql`
      select id, organization_id as "organizationId" from solana_transfers
       where status in ('BRIDGING', 'ATTESTED')
         and not exists (
           select from jobs where task = ${FOLLOW_TASK} and key = solana_transfers.id and failed_at is null)
       order by id limit ${MAX_REQUEUED}`);
    await enqueueMany(tx, rows.map(followJob));
  });
}
