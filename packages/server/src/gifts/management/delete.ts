import { ApiError, type endpoints, usdToNumber } from '@svc/protocol';
import { sql } from '@svc/store';
import type { Answer, Call } from '../../http/call.ts';
import { lockGift } from '../gift.ts';
import { releaseRest } from '../shares.ts';

type DeleteGift = typeof endpoints.deleteGift;

/** Nobody can redeem it from now on; redeems that are under way go on to their end with the shares they have. */
export function deleteGift({ caller, params, transact }: Call<DeleteGift>): Promise<Answer<DeleteGift>> {
  return transact(async (tx) => {
    const gift = await lockGift(tx, caller, params.id);
    if (!gift) throw new ApiError('gift_not_found');
    await tx.run(sql`update gifts set deleted_at = now(), updated_at = now() where id = ${gift.id}`);
    return { success: true, releasedUsd: usdToNumber(await releaseRest(tx, gift)) };
  });
}
