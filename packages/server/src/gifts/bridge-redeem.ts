import { parseSolanaAddress, type SolanaAddress } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { type Database, type Db, type Reads, type Sql, sql } from '@svc/store';
import { type Bridge, type Burn, isSolanaWallet } from '../bridge/bridge.ts';
import {
  type BurnFacts,
  type FollowedBurn,
  followBurn,
  isPostponed,
  type NextStepMs,
  pollDelayMs,
} from '../bridge/follow-burn.ts';
import type { Networks } from '../chains/networks.ts';
import { transfersIn } from '../chains/starknet/chain.ts';
import { enqueue, enqueueMany, type JobLog } from '../jobs/job.ts';
import type { OutcomeHandlers, RelayOutcome } from '../relayer/outcome.ts';
import { availableFunds, markerCalls, type Payer, payFromFunds, readManagerFunds } from '../relayer/payer.ts';
import type { StoredRelay } from '../relayer/relay.ts';
import { abandonRelay, databaseTime, reinstateRelay } from '../relayer/relay-store.ts';
import { usdcOf } from './gift.ts';
import {
  BRIDGE_TASK,
  bridgeJob,
  endRedeems,
  failRedeem,
  REDEEMS_CHANNEL,
  type Redeem,
  redeemColumns,
  succeedRedeem,
} from './redeem.ts';

export interface BridgeFacts extends BurnFacts {
  /** The order as it was sent; the bridge's message is compared with it. */
  readonly sender?: string;
  readonly maxFee?: string;
  readonly fast?: boolean;
  /** Burned after the redeem had failed and its share was released: it keeps its status until the mint. */
  readonly late?: boolean;
}

export interface BridgedRedeem extends Redeem {
  readonly relayId: string | null;
  readonly spent: boolean;
  readonly facts: BridgeFacts;
  readonly bridge: bigint;
  readonly fast: boolean;
}

const columns = sql`
  redeem.*, coalesce(facts, '{}') as facts, gifts.bridge_micros as bridge, gifts.cctp_fast as fast`;

const solanaRedeems = (which: Sql): Sql => sql`
  select ${columns}
    from (select ${redeemColumns}, relay_id as "relayId", spent, bridge as facts from gift_redeems
           where destination_chain = 'solana' and ${which}) as redeem
    join gifts on gifts.id = redeem."giftId"`;

export function findBridged(db: Pick<Reads, 'one'>, id: string): Promise<BridgedRedeem | undefined> {
  return db.one<BridgedRedeem>(solanaRedeems(sql`id = ${id}`));
}

/** Locks the gift first, in the same order as everywhere. */
export async function lockBridged(tx: Db, which: Sql): Promise<BridgedRedeem | undefined> {
  await tx.rows(sql`
    select id from gifts where id in (select gift_id from gift_redeems where ${which}) order by id for no key update`);
  await tx.rows(sql`select id from gift_redeems where ${which} for no key update`);
  return tx.one<BridgedRedeem>(solanaRedeems(which));
}

export async function addFacts(tx: Db, id: string, facts: BridgeFacts): Promise<void> {
  await tx.run(sql`
    update gift_redeems set bridge = coalesce(bridge, '{}') || ${JSON.stringify(facts)}::jsonb, updated_at = now()
     where id = ${id}`);
}

function burnOf(redeem: BridgedRedeem): Burn {
  const { facts, transactionHash, amount } = redeem;
  if (
    transactionHash === null ||
    facts.sender === undefined ||
    facts.maxFee === undefined ||
    facts.fast === undefined
  ) {
    throw new Error(`Redeem ${redeem.id} has no burn.`);
  }
  const maxFee = BigInt(facts.maxFee);
  const order = { amount: amount + maxFee, maxFee, owner: ownerOf(redeem), fast: facts.fast };
  return { hash: transactionHash, sender: BigInt(facts.sender), order };
}

function ownerOf({ id, address }: Pick<Redeem, 'id' | 'address'>): SolanaAddress {
  const owner = parseSolanaAddress(address);
  if (!owner.ok) throw new Error(`The address of redeem ${id} ${owner.reason}.`);
  return owner.value;
}

interface BurnDeps {
  readonly db: Database;
  readonly networks: Pick<Networks, 'starknet' | 'token'>;
  readonly bridge: Bridge;
  readonly payer: Payer;
  readonly log: JobLog;
}

const BURN_TIMEOUT_MS = 3_600_000;

/** One purpose per redeem: it is burned by one transaction at most. */
export const burnPurpose = (redeemId: string): string => `burn ${redeemId}`;

type BurnResult = 'BURNED' | 'GIVEN_BACK' | 'WAITING';

/** Burns the amount and the reserved bridge fee, so that at least the amount arrives. A reason against it gives the share back. */
async function burn(deps: BurnDeps, redeem: BridgedRedeem, at: Date): Promise<BurnResult> {
  const { bridge, payer, networks } = deps;
  const { id, giftId, environment, amount, bridge: maxFee, fast } = redeem;
  // Before any reason to give it back: it may be burned by a transaction that is not known yet.
  await payer.requireReconciled(environment);
  const against = await reasonAgainst(deps, redeem, at);
  if (against !== undefined) return failBeforeBurn(deps, id, against);
  const burned = amount + maxFee;
  const usdc = usdcOf(networks, environment);
  const funds = await readManagerFunds(deps, environment, usdc);
  if (funds.balance < burned) {
    const reason = `The burn would be reverted: the manager holds ${funds.balance} of ${burned} units.`;
    return failBeforeBurn(deps, id, reason);
  }
  if (availableFunds(funds) < burned) return waitForFunds(deps, redeem);
  const calls = [
    ...bridge.burnCalls(environment, { amount: burned, maxFee, owner: ownerOf(redeem), fast }),
    ...markerCalls(usdc, { kind: 'burn', id, giftId }),
  ];
  const facts: BridgeFacts = { sender: toHex(payer.manager(environment)), maxFee: String(maxFee), fast };
  const order = { environment, kind: 'burn', purpose: burnPurpose(id), calls } as const;
  const answer = await payFromFunds(deps, funds, order, (tx, relay) => storeBurn(tx, id, relay, facts));
  if (answer.ok) return 'BURNED';
  if (answer.cause === 'INSUFFICIENT_FUNDS') return waitForFunds(deps, redeem);
  return failBeforeBurn(deps, id, `The burn would be reverted: ${answer.reason}`);
}

function waitForFunds({ log }: BurnDeps, { id, environment }: BridgedRedeem): BurnResult {
  log.warn({ redeemId: id, environment }, 'burn waits for pending payments of the manager');
  return 'WAITING';
}

async function reasonAgainst(deps: BurnDeps, redeem: BridgedRedeem, at: Date): Promise<string | undefined> {
  const { environment, amount, bridge: maxFee, fast, createdAt } = redeem;
  if (at.getTime() - createdAt.getTime() > BURN_TIMEOUT_MS) return 'It could not be burned in time.';
  if (!isSolanaWallet(ownerOf(redeem))) return 'Its address is no wallet of Solana.';
  const fee = await deps.bridge.fee(environment, amount + maxFee, fast);
  // The bridge mints nothing that does not pay its fee, and a burn cannot be undone.
  return fee > maxFee ? `The bridge takes ${fee} at present, and ${maxFee} is reserved for it.` : undefined;
}

async function storeBurn(tx: Db, id: string, { id: relayId, hash }: StoredRelay, facts: BridgeFacts): Promise<void> {
  if (hash === undefined) throw new Error('A burn has no hash.');
  const stored = await tx.run(sql`
    update gift_redeems
       set status = 'BRIDGING', relay_id = ${relayId}, transaction_hash = ${toHex(hash)},
           bridge = ${JSON.stringify(facts)}::jsonb, updated_at = now()
     where id = ${id} and status = 'PENDING' and relay_id is null`);
  if (stored !== 1) throw new Error(`Redeem ${id} has ended or is burned already.`);
  await tx.run(sql`select pg_notify(${REDEEMS_CHANNEL}, ${id})`);
}

async function failBeforeBurn({ db, log }: BurnDeps, id: string, reason: string): Promise<BurnResult> {
  const failed = await db.tx(async (tx) => {
    const redeem = await lockBridged(tx, sql`id = ${id}`);
    if (redeem?.status !== 'PENDING' || redeem.relayId !== null) return false;
    await failRedeem(tx, id, reason);
    return true;
  });
  if (failed) log.warn({ redeemId: id, reason }, 'redeem given back before its burn');
  return 'GIVEN_BACK';
}

interface BurnOutcomeDeps {
  readonly networks: Pick<Networks, 'token'>;
  readonly log: JobLog;
}

export function burnOutcomes(deps: BurnOutcomeDeps): Pick<OutcomeHandlers, 'burn'> {
  return {
    burn: async (tx, outcome) => {
      const redeem = await lockBridged(tx, sql`relay_id = ${outcome.relayId}`);
      if (!redeem) return;
      const reason = reasonNotBurned(deps, redeem, outcome);
      if (reason === undefined) await markBurned(tx, redeem, outcome, deps.log);
      else await markNotBurned(tx, redeem, { relayId: outcome.relayId, reason }, deps.log);
    },
  };
}

/** Only the token's transfer event proves the burn. */
function reasonNotBurned(
  { networks }: BurnOutcomeDeps,
  redeem: BridgedRedeem,
  outcome: RelayOutcome,
): string | undefined {
  const { result, receipt, account, revertReason, environment } = outcome;
  if (result === 'VOIDED') return 'The burn was never executed.';
  if (result === 'REVERTED') return `The burn was reverted: ${revertReason ?? 'for no reason told'}`;
  const amount = redeem.amount + BigInt(redeem.facts.maxFee ?? 0);
  const token = usdcOf(networks, environment);
  const isBurned = (receipt ? transfersIn(receipt) : []).some(
    (transfer) => transfer.token === token && transfer.from === account && transfer.amount === amount,
  );
  // An incomplete receipt: the relay stays open.
  if (!isBurned) throw new Error(`The receipt of the burn of ${redeem.id} lacks its transfer.`);
  return undefined;
}

async function markBurned(tx: Db, redeem: BridgedRedeem, outcome: RelayOutcome, log: JobLog): Promise<void> {
  const { id, status, facts } = redeem;
  const burnedAt = (outcome.confirmedAt ?? new Date()).toISOString();
  // A fee bump changes the hash.
  const hash = outcome.hash === undefined ? null : toHex(outcome.hash);
  await tx.run(sql`update gift_redeems set transaction_hash = coalesce(${hash}, transaction_hash) where id = ${id}`);
  const isKnown = typeof facts.burnedAt === 'string';
  const isLate = status === 'FAILED' && !isKnown;
  if (isLate) {
    await reinstateRelay(tx, outcome.relayId);
    log.error({ redeemId: id, burn: hash }, 'redeem burned after its share was released, continuing');
  }
  const since = (isKnown && facts.since) || (await databaseTime(tx)).toISOString();
  await addFacts(tx, id, { burnedAt, since, ...(isLate && { late: true }) });
  if (status !== 'SUCCESS') await enqueue(tx, bridgeJob(id, redeem.organizationId));
}

async function markNotBurned(
  tx: Db,
  redeem: BridgedRedeem,
  { relayId, reason }: { readonly relayId: string; readonly reason: string },
  log: JobLog,
): Promise<void> {
  const { id, status, spent, facts } = redeem;
  if (status === 'BRIDGING' && !spent) {
    await failRedeem(tx, id, reason);
    // A reorganisation may reopen the relay; it must not burn any more.
    await abandonRelay(tx, relayId);
    await tx.run(sql`update gift_redeems set transaction_hash = null where id = ${id}`);
    await addFacts(tx, id, { burnedAt: null });
    log.warn({ redeemId: id, reason }, 'burn failed, redeem given back');
    return;
  }
  if (status === 'FAILED' && facts.late) await addFacts(tx, id, { burnedAt: null, late: false });
  log.error({ redeemId: id, status, reason }, 'burn removed from the chain');
}

export interface BridgeRedeemDeps extends BurnDeps {
  readonly now?: () => number;
}

/** One step of a redeem to Solana, from its stored state. Safe to repeat, also after a crash. */
export async function bridgeRedeem(deps: BridgeRedeemDeps, redeemId: string): Promise<void> {
  const redeem = await findBridged(deps.db, redeemId);
  if (!redeem) return;
  const next = await step(deps, redeem);
  if (next === undefined) return;
  await enqueue(deps.db, { ...bridgeJob(redeemId), runAt: new Date(Date.now() + next) });
}

async function step(deps: BridgeRedeemDeps, redeem: BridgedRedeem): Promise<NextStepMs> {
  const at = await databaseTime(deps.db.reads, deps.now);
  const retryMs = pollDelayMs(redeem.fast, at.getTime() - redeem.updatedAt.getTime());
  try {
    if (awaitsMint(redeem)) return await followBurn(deps, followed(deps, redeem), at);
    if (redeem.status !== 'PENDING' || redeem.relayId !== null) return undefined;
    // The outcome of a burn enqueues the next step.
    return (await burn(deps, redeem, at)) === 'WAITING' ? retryMs : undefined;
  } catch (error) {
    if (!isPostponed(error)) throw error;
    deps.log.warn({ redeemId: redeem.id, err: error }, 'bridge step postponed');
    return retryMs;
  }
}

function followed(deps: BridgeRedeemDeps, redeem: BridgedRedeem): FollowedBurn {
  const { db, log } = deps;
  const { id, environment, amount, facts, updatedAt, status } = redeem;
  return {
    ...{ environment, facts, updatedAt, burn: burnOf(redeem), arrives: amount, about: { redeemId: id } },
    storeAttested: (added) =>
      db.tx(async (tx) => {
        const to = status === 'BRIDGING' ? 'ATTESTED' : status;
        const moved = await tx.run(sql`
          update gift_redeems set status = ${to} where id = ${id} and status = ${status} and ${stillLate(facts.late)}`);
        if (moved === 1) await addFacts(tx, id, added);
        return moved === 1;
      }),
    countRenewal: (done, added) =>
      db.tx(async (tx) => {
        const now = await lockBridged(tx, sql`id = ${id}`);
        if (!now || (now.facts.renewals ?? 0) !== done) return false;
        await addFacts(tx, id, added);
        return true;
      }),
    arrived: (arrival) => db.tx((tx) => succeedRedeem(tx, id, arrival, log)),
    stop: (reason) => failBurned(deps, redeem, reason),
  };
}

const stillLate = (late = false) => sql`coalesce((bridge ->> 'late')::boolean, false) = ${late}`;

/** One that failed before its burn keeps its status; only polling ends. */
async function failBurned({ db, log }: BridgeRedeemDeps, redeem: BridgedRedeem, reason: string): Promise<void> {
  const { id, transactionHash } = redeem;
  await db.tx(async (tx) => {
    const now = await lockBridged(tx, sql`id = ${id}`);
    if (!now || !awaitsMint(now)) return;
    if (now.status === 'FAILED') await stopLate(tx, id, reason);
    else await endRedeems(tx, [{ id, end: 'FAILED', reason, burned: true }], log);
  });
  log.error({ redeemId: id, burn: transactionHash, reason }, 'redeem burned but not minted on Solana');
}

async function stopLate(tx: Db, id: string, reason: string): Promise<void> {
  await addFacts(tx, id, { late: false });
  await tx.run(sql`update gift_redeems set reason = ${reason} where id = ${id}`);
}

function awaitsMint({ status, facts }: Pick<BridgedRedeem, 'status' | 'facts'>): boolean {
  const isBurned = typeof facts.burnedAt === 'string';
  return isBurned && (status === 'BRIDGING' || status === 'ATTESTED' || (status === 'FAILED' && facts.late === true));
}

const MAX_REQUEUED = 1_000;

export async function requeueStalledRedeems(db: Db): Promise<void> {
  await db.tx(async (tx) => {
    const redeems = await tx.rows<{ id: string; organization_id: string }>(sql`
      select id, organization_id from gift_redeems
       where destination_chain = 'solana' and status in ('PENDING', 'BRIDGING', 'ATTESTED')
         and (relay_id is null or bridge ->> 'burnedAt' is not null)
         and not exists (
           select from jobs where task = ${BRIDGE_TASK} and key = gift_redeems.id and failed_at is null)
       order by id limit ${MAX_REQUEUED}`);
    await enqueueMany(
      tx,
      redeems.map(({ id, organization_id }) => bridgeJob(id, organization_id)),
    );
  });
}
