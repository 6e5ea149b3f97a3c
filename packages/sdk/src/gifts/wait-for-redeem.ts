import type { Client } from '../client/client.ts';
import { type PollOptions, pollUntil } from '../polling/poll-until.ts';
import { type GetRedeemStatusParams, getRedeemStatus, type RedeemState } from './get-redeem-status.ts';

export interface WaitForRedeemParams extends GetRedeemStatusParams, PollOptions {}

/**
 * Waits until a redeem is `SUCCESS` or `FAILED`; both are answers. Redeems on Solana in standard mode take hours: wait for those with a
 * longer `timeoutMs`, or ask `getRedeemStatus` now and then.
 *
 * @throws SvcConnectionError with code `timeout` when it is not final in time: it goes on, and can be waited for again
 * @example
 * const { status, receiveChainTxHash } = await svc.gifts.waitForRedeem({ code: gift.code, redeemId });
 */
export function waitForRedeem(client: Client, params: WaitForRedeemParams): Promise<RedeemState> {
  const { code, redeemId } = params;
  return pollUntil(client, params, {
    name: `Redeem ${redeemId}`,
    read: () => getRedeemStatus(client, { code, redeemId }),
    isFinal: ({ status }) => status === 'SUCCESS' || status === 'FAILED',
  });
}
