import type { endpoints, Gift } from '@svc/protocol';
import type { Answer, Call } from '../../http/call.ts';
import { refuse } from '../../wallets/fields.ts';
import { findGift, isExpired, toGift } from '../gift.ts';
import { costsOf } from './costs.ts';
import { readAmount, readExpiry, readMoment, requireAfter } from './fields.ts';
import type { GiftParts } from './parts.ts';
import { type NewGift, storeGifts } from './store-gifts.ts';

type CreateGift = typeof endpoints.createGift;

/** Makes one gift and holds what all of its redemptions may cost. */
export async function createGift(
  parts: GiftParts,
  { caller, body, transact }: Call<CreateGift>,
): Promise<Answer<CreateGift>> {
  const read = readGift(body, parts.now?.() ?? Date.now());
  parts.manager(caller.environment);
  const costs = await costsOf(parts, caller.environment, read.amount, read.cctpFast);
  return transact(async (tx): Promise<Gift> => {
    const [stored] = await storeGifts(tx, caller, [{ ...read, ...costs }]);
    const gift = await findGift(tx, caller, stored?.id ?? '');
    if (!gift) throw new Error('A gift that was stored is not there.');
    return toGift(gift);
  });
}

function readGift(body: Call<CreateGift>['body'], nowMs: number): Omit<NewGift, 'gas' | 'bridge'> {
  const startsAt = readMoment(body.startsAt, 'body.startsAt');
  const expiresAt = readExpiry(body.expiresAt ?? null);
  requireAfter(expiresAt, startsAt);
  if (isExpired({ expiresAt }, nowMs)) refuse('body.expiresAt', 'must be in the future');
  if (body.maxRedeemsPerUser > body.maxRedeems) refuse('body.maxRedeemsPerUser', 'must be at most maxRedeems');
  const { code, name, maxRedeems, maxRedeemsPerUser, isActive } = body;
  return {
    ...{ code, name, maxRedeems, maxRedeemsPerUser, isActive, startsAt, expiresAt },
    amount: readAmount(body.amount),
    type: body.type ?? 'GIFT_CARD',
    cctpFast: body.cctpFast ?? true,
    recipientEmail: null,
    campaignName: null,
  };
}
