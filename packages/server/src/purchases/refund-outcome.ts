import type { Environment } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import type { Db } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import { transfersIn } from '../chains/starknet/chain.ts';
import type { JobLog } from '../jobs/job.ts';
import type { OutcomeHandlers, RelayOutcome } from '../relayer/outcome.ts';
import { abandonRelay, findRelayByHash, reinstateRelay } from '../relayer/relay-store.ts';
import { errorText } from '../util/text.ts';
import { lockPurchaseOfRefund, type Purchase } from './purchase.ts';
import { changeRefund, changeRefundHash, type RefundDeps, unpaidRefunds, useTransfer } from './refunds.ts';

interface Deps {
  readonly networks: Pick<Networks, 'starknet'>;
  readonly log: JobLog;
}

/** What the end of a refund's transaction means for its purchase. It can come again, also with another result, after a reorganisation. */
export function refundOutcomes(deps: Deps): Pick<OutcomeHandlers, 'refund'> {
  return {
    refund: async (tx, outcome) => {
      const purchase = await lockPurchaseOfRefund(tx, outcome.relayId);
      if (!purchase) complain(deps, outcome);
      else if (outcome.result === 'SUCCEEDED') await endPaid(tx, deps, outcome, purchase);
      else await keepUnpaid(tx, deps, outcome, purchase);
    },
  };
}

/** Only of one that was given up long before, and then only on a chain that goes back behind its finality. */
function complain({ log }: Deps, { relayId, result, hash }: RelayOutcome): void {
  if (result !== 'SUCCEEDED') return;
  log.error({ relayId, hash: hash && toHex(hash) }, 'a refund was executed after another one had taken its place');
}

/** The event says that it was paid, and nothing else does. What throws leaves the transaction open, and its receipt is read again. */
async function endPaid(tx: Db, { networks, log }: Deps, outcome: RelayOutcome, purchase: Purchase): Promise<void> {
  const { relayId, hash, receipt, account, environment } = outcome;
  const { record, payment, refund } = purchase;
  const { id, organizationId } = record;
  const isPaid = (receipt ? transfersIn(receipt) : []).some(
    ({ token, from, to, amount }) =>
      token === payment.token && from === account && to === payment.payer && amount === payment.amount,
  );
  if (!isPaid || hash === undefined) throw new Error(`The receipt of the refund of ${id} lacks its transfer.`);
  const { chainId } = networks.starknet(environment).chain;
  await useTransfer(tx, { chainId, hash, organizationId, environment, purchaseId: id });
  if (refund.status !== 'REFUNDED') {
    await reinstateRelay(tx, relayId);
    return changeRefund(tx, id, 'REFUNDED', hash);
  }
  // After a reorganisation it may stand there with a higher fee, and so with another hash.
  if (await isOf(tx, chainId, purchase, relayId)) return changeRefundHash(tx, id, hash);
  log.error({ purchaseId: id, hashes: [refund.hash, toHex(hash)] }, 'a payment was given back twice');
}

/** Nothing was given back, and nothing is sent anew: until it is over for good, a reorganisation may have it executed. */
async function keepUnpaid(tx: Db, { networks, log }: Deps, outcome: RelayOutcome, purchase: Purchase): Promise<void> {
  const { relayId, result, revertReason, environment } = outcome;
  const { record, refund } = purchase;
  log.warn({ purchaseId: record.id, relayId, result, reason: revertReason }, 'a refund was not made');
  const { chainId } = networks.starknet(environment).chain;
  const wasThis = refund.status === 'REFUNDED' && (await isOf(tx, chainId, purchase, relayId));
  if (wasThis) await changeRefund(tx, record.id, 'REFUNDING');
}

/** Whether this transaction of ours gave the payment back, or another one, such as the organisation's own. */
async function isOf(tx: Db, chainId: bigint, { refund }: Purchase, relayId: string): Promise<boolean> {
  const known = await findRelayByHash(tx, chainId, BigInt(refund.hash ?? 0));
  return known?.id === relayId;
}

/** At one look, a few questions each; the next one goes on. */
const MAX_LOOKED_AT = 100;

/**
 * Refunds whose transaction reverted or was never executed are due again, once that is over for good: before, a reorganisation could
 * have it executed besides the next one. Answers how many there were.
 */
export async function requeueFailedRefunds(
  { db, networks, payer, log }: Omit<RefundDeps, 'pause'>,
  environment: Environment,
): Promise<number> {
  const { chainId } = networks.starknet(environment).chain;
  let freed = 0;
  for (const relayId of await unpaidRefunds(db, chainId, MAX_LOOKED_AT)) {
    try {
      if (!(await payer.isOverForGood(environment, relayId))) continue;
      freed += await db.tx((tx) => free(tx, relayId));
    } catch (error) {
      log.warn({ relayId, reason: errorText(error) }, 'the end of a refund could not be read');
    }
  }
  return freed;
}

async function free(tx: Db, relayId: string): Promise<number> {
  if (!(await abandonRelay(tx, relayId))) return 0;
  const purchase = await lockPurchaseOfRefund(tx, relayId);
  if (purchase?.refund.status !== 'REFUNDING') return 0;
  await changeRefund(tx, purchase.record.id, 'DUE');
  return 1;
}
