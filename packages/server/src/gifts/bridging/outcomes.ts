import type { Environment } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { type Db, sql } from '@svc/store';
import { transfersIn } from '../../chains/starknet/transfers.ts';
import { enqueue } from '../../jobs/enqueue.ts';
import type { JobLog } from '../../jobs/job.ts';
import { giveUp, takeUp } from '../../relayer/give-up.ts';
import type { OutcomeHandlers, RelayOutcome } from '../../relayer/outcome.ts';
import { failRedeem } from '../end-redeem.ts';
import { bridgeJob } from '../redeem-jobs.ts';
import { addFacts, type BridgedRedeem, lockBridged } from './bridged-redeem.ts';

export interface BurnOutcomeParts {
  /** USDC on Starknet. */
  readonly usdc: (environment: Environment) => bigint;
  readonly log: JobLog;
}

/**
 * What the end of a burn's transaction means for its redeem. It can come again, also with another result, after a reorganisation. A
 * redeem has one burn for ever, so nothing here can burn twice.
 */
export function burnOutcomes(parts: BurnOutcomeParts): Pick<OutcomeHandlers, 'burn'> {
  return {
    burn: async (tx, outcome) => {
      const redeem = await lockBridged(tx, sql`relay_id = ${outcome.relayId}`);
      if (!redeem) return;
      const reason = reasonNotBurned(parts, redeem, outcome);
      if (reason === undefined) await burned(tx, redeem, outcome, parts.log);
      else await notBurned(tx, redeem, { relayId: outcome.relayId, reason }, parts.log);
    },
  };
}

/** A transaction's own status is no proof that something was taken; the token's event is. */
function reasonNotBurned({ usdc }: BurnOutcomeParts, redeem: BridgedRedeem, outcome: RelayOutcome): string | undefined {
  const { result, receipt, account, revertReason, environment } = outcome;
  if (result === 'VOIDED') return 'The burn was never executed.';
  if (result === 'REVERTED') return `The burn was reverted: ${revertReason ?? 'for no reason told'}`;
  const amount = redeem.amount + BigInt(redeem.facts.maxFee ?? 0);
  const token = usdc(environment);
  const taken = (receipt ? transfersIn(receipt) : []).some(
    (transfer) => transfer.token === token && transfer.from === account && transfer.amount === amount,
  );
  // What was burned is minted, whatever a receipt leaves out: the burn stays open, and its receipt is read again.
  if (!taken) throw new Error(`The receipt of the burn of ${redeem.id} lacks its transfer.`);
  return undefined;
}

async function burned(tx: Db, redeem: BridgedRedeem, outcome: RelayOutcome, log: JobLog): Promise<void> {
  const { id, status, facts } = redeem;
  const burnedAt = (outcome.confirmedAt ?? new Date()).toISOString();
  // The fee may have been raised on the way, and then the hash is another one.
  const hash = outcome.hash === undefined ? null : toHex(outcome.hash);
  await tx.run(sql`update gift_redeems set transaction_hash = coalesce(${hash}, transaction_hash) where id = ${id}`);
  const isLate = status === 'FAILED' && typeof facts.burnedAt !== 'string';
  if (isLate) {
    await takeUp(tx, outcome.relayId);
    log.error({ redeemId: id, burn: hash }, 'a redeem was burned after it had been given back; it goes on');
  }
  const row = await tx.one<{ now: Date }>(sql`select now() as now`);
  const since = facts.since ?? (row?.now ?? new Date()).toISOString();
  await addFacts(tx, id, { burnedAt, since, ...(isLate && { late: true }) });
  if (status !== 'SUCCESS') await enqueue(tx, bridgeJob(id));
}

/** Nothing was burned, so the share goes back. What is attested already is minted whatever becomes of the burn. */
async function notBurned(
  tx: Db,
  redeem: BridgedRedeem,
  { relayId, reason }: { readonly relayId: string; readonly reason: string },
  log: JobLog,
): Promise<void> {
  const { id, status, spent, facts } = redeem;
  if (status === 'BRIDGING' && !spent) {
    await failRedeem(tx, id, reason);
    // Should a reorganisation open it again, nobody wants it burned any more.
    await giveUp(tx, relayId);
    await tx.run(sql`update gift_redeems set transaction_hash = null where id = ${id}`);
    await addFacts(tx, id, { burnedAt: null });
    log.warn({ redeemId: id, reason }, 'the burn of a redeem did not happen; it was given back');
    return;
  }
  if (status === 'FAILED' && facts.late) await addFacts(tx, id, { burnedAt: null, late: false });
  log.error({ redeemId: id, status, reason }, 'the burn of a redeem was taken off the chain');
}
