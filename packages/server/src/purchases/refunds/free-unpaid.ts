import type { Environment } from '@svc/protocol';
import type { Db } from '@svc/store';
import { reasonOf } from '../../jobs/job.ts';
import { giveUp } from '../../relayer/give-up.ts';
import { lockPurchaseOfRefund } from '../fulfilment/purchase.ts';
import type { RefundParts } from './parts.ts';
import { changeRefund, unpaidRefunds } from './store.ts';

/** At one look, a few questions each; the next one goes on. */
const MAX_LOOKED_AT = 100;

/**
 * Refunds whose transaction reverted or was never executed are due again, once that is over for good: before, a reorganisation could
 * have it executed besides the next one. Answers how many there were.
 */
export async function freeUnpaidRefunds(
  { db, networks, payer, log }: Omit<RefundParts, 'pause'>,
  environment: Environment,
): Promise<number> {
  const { chainId } = networks.starknet(environment).chain;
  let freed = 0;
  for (const relayId of await unpaidRefunds(db, chainId, MAX_LOOKED_AT)) {
    try {
      if (!(await payer.isOverForGood(environment, relayId))) continue;
      freed += await db.tx((tx) => free(tx, relayId));
    } catch (error) {
      log.warn({ relayId, reason: reasonOf(error) }, 'the end of a refund could not be read');
    }
  }
  return freed;
}

async function free(tx: Db, relayId: string): Promise<number> {
  if (!(await giveUp(tx, relayId))) return 0;
  const purchase = await lockPurchaseOfRefund(tx, relayId);
  if (purchase?.refund.status !== 'REFUNDING') return 0;
  await changeRefund(tx, purchase.record.id, 'DUE');
  return 1;
}
