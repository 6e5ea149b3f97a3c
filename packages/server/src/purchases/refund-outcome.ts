import type { Environment } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import type { Db } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import { transfersIn } from '../chains/starknet/chain.ts';
import type { JobLog } from '../jobs/job.ts';
import type { OutcomeHandlers, RelayOutcome } from '../relayer/outcome.ts';
import { abandonRelay, findRelayByHash, reinstateRelay } from '../relayer/relay-store.ts';
import { lockPurchaseOfRefund, type Purchase } from './purchase.ts';
import { changeRefund, changeRefundHash, failedRefunds, markTransferUsed, type RefundDeps } from './refunds.ts';

interface RefundOutcomeDeps {
  readonly networks: Pick<Networks, 'starknet'>;
  readonly log: JobLog;
}

export function refundOutcomes(deps: RefundOutcomeDeps): Pick<OutcomeHandlers, 'refund'> {
  return {
    refund: async (tx, outcome) => {
      const purchase = await lockPurchaseOfRefund(tx, outcome.relayId);
      if (!purchase) logReplaced(deps, outcome);
      else if (outcome.result === 'SUCCEEDED') await markRefunded(tx, deps, outcome, purchase);
      else await markUnpaid(tx, deps, outcome, purchase);
    },
  };
}

/** Only for an abandoned refund on a chain that is reorganised beyond its finality. */
function logReplaced({ log }: RefundOutcomeDeps, { relayId, result, hash }: RelayOutcome): void {
  if (result !== 'SUCCEEDED') return;
  log.error({ relayId, hash: hash && toHex(hash) }, 'refund executed after it was replaced');
}

/** Only the transfer event proves the refund. An error leaves the relay open, and its receipt is read again. */
async function markRefunded(
  tx: Db,
  { networks, log }: RefundOutcomeDeps,
  outcome: RelayOutcome,
  purchase: Purchase,
): Promise<void> {
  const { relayId, hash, receipt, account, environment } = outcome;
  const { record, payment, refund } = purchase;
  const { id, organizationId } = record;
  const isPaid = (receipt ? transfersIn(receipt) : []).some(
    ({ token, from, to, amount }) =>
      token === payment.token && from === account && to === payment.payer && amount === payment.amount,
  );
  if (!isPaid || hash === undefined) throw new Error(`The receipt of the refund of ${id} lacks its transfer.`);
  const { chainId } = networks.starknet(environment).chain;
  await markTransferUsed(tx, { chainId, hash, organizationId, environment, purchaseId: id });
  if (refund.status !== 'REFUNDED') {
    await reinstateRelay(tx, relayId);
    return changeRefund(tx, id, 'REFUNDED', hash);
  }
  // A fee bump changes the hash.
  if (await isRefundOf(tx, chainId, purchase, relayId)) return changeRefundHash(tx, id, hash);
  log.error({ purchaseId: id, hashes: [refund.hash, toHex(hash)] }, 'payment refunded twice');
}

async function markUnpaid(
  tx: Db,
  { networks, log }: RefundOutcomeDeps,
  outcome: RelayOutcome,
  purchase: Purchase,
): Promise<void> {
  const { relayId, result, revertReason, environment } = outcome;
  const { record, refund } = purchase;
  log.warn({ purchaseId: record.id, relayId, result, reason: revertReason }, 'refund failed');
  const { chainId } = networks.starknet(environment).chain;
  const wasThis = refund.status === 'REFUNDED' && (await isRefundOf(tx, chainId, purchase, relayId));
  if (wasThis) await changeRefund(tx, record.id, 'REFUNDING');
}

/** False where another transaction refunded it, such as the organisation's own. */
async function isRefundOf(tx: Db, chainId: bigint, { refund }: Purchase, relayId: string): Promise<boolean> {
  const known = await findRelayByHash(tx, chainId, BigInt(refund.hash ?? 0));
  return known?.id === relayId;
}

const MAX_CHECKED = 100;

/** Before the failure is final a reorganisation could execute the old transfer besides a new one. */
export async function requeueFailedRefunds(
  { db, networks, payer, log }: Omit<RefundDeps, 'pause'>,
  environment: Environment,
): Promise<number> {
  const { chainId } = networks.starknet(environment).chain;
  let requeued = 0;
  for (const relayId of await failedRefunds(db, chainId, MAX_CHECKED)) {
    try {
      if (!(await payer.isFailureFinal(environment, relayId))) continue;
      requeued += await db.tx((tx) => requeueRefund(tx, relayId));
    } catch (error) {
      log.warn({ relayId, err: error }, 'refund finality check failed');
    }
  }
  return requeued;
}

async function requeueRefund(tx: Db, relayId: string): Promise<number> {
  if (!(await abandonRelay(tx, relayId))) return 0;
  const purchase = await lockPurchaseOfRefund(tx, relayId);
  if (purchase?.refund.status !== 'REFUNDING') return 0;
  await changeRefund(tx, purchase.record.id, 'DUE');
  return 1;
}
