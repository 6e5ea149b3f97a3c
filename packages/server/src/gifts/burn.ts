import { toHex } from '@svc/starknet';
import { type Database, type Db, sql } from '@svc/store';
import type { Bridge } from '../bridge/bridge.ts';
import { isSolanaWallet } from '../bridge/solana-address.ts';
import type { Networks } from '../chains/networks.ts';
import { transfersIn } from '../chains/starknet/chain.ts';
import { enqueue, type JobLog } from '../jobs/job.ts';
import type { OutcomeHandlers, RelayOutcome } from '../relayer/outcome.ts';
import { availableFunds, markerCalls, type Payer, payFromFunds, readManagerFunds } from '../relayer/payer.ts';
import type { StoredRelay } from '../relayer/relay.ts';
import { abandonRelay, databaseTime, reinstateRelay } from '../relayer/relay-store.ts';
import { addFacts, type BridgedRedeem, type BridgeFacts, lockBridged, ownerOf } from './bridge-store.ts';
import { usdcOf } from './gift.ts';
import { bridgeJob, failRedeem, REDEEMS_CHANNEL } from './redeem.ts';

export interface BurnDeps {
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
export async function burn(deps: BurnDeps, redeem: BridgedRedeem, at: Date): Promise<BurnResult> {
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
