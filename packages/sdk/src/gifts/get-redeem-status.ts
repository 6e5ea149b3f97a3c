import type { AnswerOf, endpoints } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { request } from '../client/request.ts';

export interface GetRedeemStatusParams {
  readonly code: string;
  readonly redeemId: string;
}

/** After `FAILED`, `cctpBurnTxHash` still leads to the funds. */
export type RedeemState = AnswerOf<typeof endpoints.getRedeemStatus>;

/**
 * Reads how far a redeem is. `waitForRedeem` waits for its end.
 *
 * @example
 * const { status } = await svc.gifts.getRedeemStatus({ code: gift.code, redeemId });
 */
export function getRedeemStatus(client: Client, { code, redeemId }: GetRedeemStatusParams): Promise<RedeemState> {
  return request<typeof endpoints.getRedeemStatus>(client, {
    route: 'GET /gifts/claim/{code}/status/{redeemId}',
    access: 'none',
    params: { code, redeemId },
  });
}
