import { toHex } from '@svc/starknet';
import type { Db } from '@svc/store';
import { transfersIn } from '../../chains/starknet/transfers.ts';
import { giveUp, takeUp } from '../../relayer/give-up.ts';
import type { OutcomeHandlers, RelayOutcome } from '../../relayer/outcome.ts';
import { endRedeems, type RedeemEnd } from '../end-redeem.ts';
import { matchTransfers } from './match-transfers.ts';
import { type PayoutParts, usdcOf } from './parts.ts';
import { type Due, redeemsOf } from './store.ts';

type Parts = Pick<PayoutParts, 'networks' | 'log'>;

const REVERTED = 'The payout reverted.';

/** What the end of a payout means for its redeems. It can come again, also with another result, after a reorganisation. */
export function payoutOutcomes(parts: Parts): Pick<OutcomeHandlers, 'payout'> {
  return {
    payout: async (tx, outcome) => {
      const redeems = await redeemsOf(tx, outcome.relayId);
      if (outcome.result === 'SUCCEEDED') await settlePaid(tx, parts, outcome, redeems);
      else await endUnpaid(tx, parts, outcome, redeems);
    },
  };
}

/** The events say who was paid, and nothing else does. What throws leaves the payout open, and it is read again. */
async function settlePaid(tx: Db, parts: Parts, outcome: RelayOutcome, redeems: readonly Due[]): Promise<void> {
  const { relayId, hash, receipt, environment, account } = outcome;
  const { log } = parts;
  if (!receipt || hash === undefined) throw new Error('A payout has succeeded without a receipt.');
  const usdc = usdcOf(parts.networks, environment);
  const transfers = transfersIn(receipt).filter(({ token, from }) => token === usdc && from === account);
  const paid = matchTransfers(redeems, transfers);
  if (transfers.length !== paid.size) {
    log.error(
      { relayId, hash: toHex(hash), transfers: transfers.length, redeems: paid.size },
      'a payout paid somebody else',
    );
  } else await takeUp(tx, relayId);
  const unpaid = redeems.filter(({ id }) => !paid.has(id)).map(({ id }) => id);
  // A payout that has succeeded has paid everybody: a receipt that shows less is not all of it, and must not make anyone redeem again.
  if (unpaid.length > 0) throw new Error(`The receipt of ${toHex(hash)} lacks the transfers of ${unpaid.join(', ')}.`);
  const ends = redeems.map(({ id }): RedeemEnd => ({ id, end: 'SUCCESS', transactionHash: toHex(hash) }));
  await endRedeems(tx, ends, log);
}

/**
 * One that reverted alone has failed, and nothing of it is sent any more. All others stay with their payout until it is over for
 * good: a reorganisation may still have it executed.
 */
async function endUnpaid(tx: Db, { log }: Parts, outcome: RelayOutcome, redeems: readonly Due[]): Promise<void> {
  const { relayId, result, revertReason } = outcome;
  log.warn({ relayId, result, reason: revertReason, redeems: redeems.length }, 'a payout was not made');
  const [only, ...others] = redeems;
  if (result !== 'REVERTED' || others.length > 0 || only?.status !== 'PENDING') return;
  await endRedeems(tx, [{ id: only.id, end: 'FAILED', reason: revertReason ?? REVERTED }]);
  await giveUp(tx, relayId);
}
