import { catalogue, type endpoints, formatUsd } from '@svc/protocol';
import type { Answer, Call } from '../../http/call.ts';
import { findByCode } from './find-code.ts';
import type { ClaimParts } from './parts.ts';
import { refusalOf } from './refusal.ts';

type ClaimGift = typeof endpoints.claimGift;

/** Whether a code can be redeemed now, and what it gives. */
export async function claimGift(
  parts: Pick<ClaimParts, 'codes' | 'now'>,
  { client, params }: Pick<Call<ClaimGift>, 'client' | 'params'>,
): Promise<Answer<ClaimGift>> {
  const gift = await findByCode(parts, client, params.code);
  const refusal = refusalOf(gift, (parts.now ?? Date.now)());
  if (refusal || !gift) return { valid: false, reason: catalogue[refusal ?? 'gift_not_found'].message };
  const { code, name, amount, orgName } = gift;
  return { valid: true, gift: { code, name, amount: formatUsd(amount), token: 'USDC', chain: 'STARKNET' }, orgName };
}
