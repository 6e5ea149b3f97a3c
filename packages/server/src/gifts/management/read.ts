import { ApiError, type endpoints, type Gift, usdToNumber } from '@svc/protocol';
import { type Db, type Reads, type Sql, sql } from '@svc/store';
import type { Answer, Call } from '../../http/call.ts';
import type { Caller } from '../../http/caller.ts';
import { readPage, toPage } from '../../http/pages.ts';
import { balance } from '../../ledger/balance.ts';
import { findGift, type ShownGift, shownGiftColumns, toGift } from '../gift.ts';

type ListGifts = typeof endpoints.listGifts;
type GetGiftUsage = typeof endpoints.getGiftUsage;

export async function getGift(reads: Reads, caller: Caller, id: string): Promise<Gift> {
  const gift = await findGift(reads, caller, id);
  if (!gift) throw new ApiError('gift_not_found');
  return toGift(gift);
}

/** Newest first. */
export async function listGifts(db: Db, caller: Caller, query: Call<ListGifts>['query']): Promise<Answer<ListGifts>> {
  const page = readPage(query);
  const matching = matches(caller, query);
  const [gifts, count] = await Promise.all([
    db.rows<ShownGift>(sql`
      select ${shownGiftColumns} from gifts where ${matching}
       order by created_at desc, id desc limit ${page.limit} offset ${page.offset}`),
    db.one<{ total: bigint }>(sql`select count(*) as total from gifts where ${matching}`),
  ]);
  return toPage(gifts.map(toGift), Number(count?.total ?? 0n), page);
}

function matches({ organizationId, environment }: Caller, query: Call<ListGifts>['query']): Sql {
  const { isActive = null, type = null, campaignName = null } = query;
  return sql`organization_id = ${organizationId} and environment = ${environment} and deleted_at is null
    and (${isActive}::boolean is null or is_active = ${isActive})
    and (${type}::text is null or type = ${type})
    and (${campaignName}::text is null or campaign_name = ${campaignName})`;
}

/** Deleted gifts are no longer counted, but what was redeemed of them is. */
export async function getGiftUsage(db: Db, caller: Caller, nowMs: number): Promise<Answer<GetGiftUsage>> {
  const now = new Date(nowMs);
  const [counts, { held }] = await Promise.all([
    db.one<Record<'gifts' | 'active' | 'redeems' | 'redeemed', bigint>>(sql`
      select count(*) filter (where deleted_at is null) as gifts,
             count(*) filter (
               where deleted_at is null and is_active and starts_at <= ${now} and total_redeems < max_redeems
                 and (expires_at is null or expires_at > ${now})) as active,
             coalesce(sum(total_redeems), 0)::bigint as redeems,
             coalesce(sum(redeemed_micros), 0)::bigint as redeemed
        from gifts
       where organization_id = ${caller.organizationId} and environment = ${caller.environment}`),
    // Nothing but gifts takes holds.
    balance(db, caller),
  ]);
  return {
    totalGifts: Number(counts?.gifts ?? 0n),
    activeGifts: Number(counts?.active ?? 0n),
    totalRedeems: Number(counts?.redeems ?? 0n),
    totalHeldUsd: usdToNumber(held),
    totalRedeemedUsd: usdToNumber(counts?.redeemed ?? 0n),
  };
}
