import type { Environment } from '@svc/protocol';
import { reasonOf } from '../../jobs/job.ts';
import { giveUp } from '../../relayer/give-up.ts';
import type { PayoutParts } from './parts.ts';
import { freeRedeems, unpaidPayouts } from './store.ts';

/** At one look, a few questions each; the next one goes on. */
const MAX_LOOKED_AT = 100;

/**
 * Redeems of payouts that reverted or were never executed wait again, once their payout is over for good: before that a
 * reorganisation could have it executed besides the next one. Answers how many there were.
 */
export async function freeUnpaid({ db, networks, payer, log }: PayoutParts, environment: Environment): Promise<number> {
  const { chainId } = networks.starknet(environment).chain;
  let freed = 0;
  for (const relayId of await unpaidPayouts(db, chainId, MAX_LOOKED_AT)) {
    try {
      if (!(await payer.isOverForGood(environment, relayId))) continue;
      freed += await db.tx(async (tx) => ((await giveUp(tx, relayId)) ? freeRedeems(tx, relayId) : 0));
    } catch (error) {
      log.warn({ relayId, reason: reasonOf(error) }, 'the end of a payout could not be read');
    }
  }
  return freed;
}
