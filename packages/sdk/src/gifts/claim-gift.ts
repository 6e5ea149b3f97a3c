import type { AnswerOf, endpoints } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { SvcConnectionError } from '../client/errors.ts';
import { request } from '../client/request.ts';

export interface ClaimGiftParams {
  readonly code: string;
}

type Answer = AnswerOf<typeof endpoints.claimGift>;

/** What a code gives, or why it gives nothing: `Gift not found`, `Gift has expired`, `Gift redemption limit reached`, … */
export type Claim =
  | { readonly valid: true; readonly gift: NonNullable<Answer['gift']>; readonly orgName: string }
  | { readonly valid: false; readonly reason: string };

/**
 * Looks whether a gift code is valid and what it gives. Nothing is redeemed; the code is the only credential.
 *
 * @example
 * const claim = await svc.gifts.claimGift({ code: gift.code });
 * console.log(claim.valid ? `${claim.gift.amount} USDC from ${claim.orgName}` : claim.reason);
 */
export async function claimGift(client: Client, { code }: ClaimGiftParams): Promise<Claim> {
  const { valid, gift, orgName, reason } = await request<typeof endpoints.claimGift>(client, {
    route: 'GET /gifts/claim/{code}',
    access: 'none',
    params: { code },
  });
  if (!valid) return { valid, reason: reason ?? 'Gift not found' };
  if (gift && orgName !== undefined) return { valid, gift, orgName };
  throw new SvcConnectionError('invalid_answer', 'The service says that the code is valid, but not what it gives.');
}
