import { ApiError } from '@svc/protocol';
import { type Db, sql } from '@svc/store';
import { newId } from '../../ids.ts';
import { enqueue } from '../../jobs/enqueue.ts';
import { type GiftRecord, giftColumns } from '../gift.ts';
import { bridgeJob, payoutJob } from '../redeem-jobs.ts';
import { shareOfRedeem } from '../shares.ts';
import { type Destination, requireReachable } from './destination.ts';
import type { ClaimParts } from './parts.ts';
import { refusalOf } from './refusal.ts';

/** As long as a request with an Idempotency-Key is known. */
const KEY_HOURS = 24;

export interface Wish {
  readonly giftId: string;
  readonly destination: Destination;
  readonly requestKey: string | undefined;
}

/**
 * Takes a place of the gift and a share of its hold for one redeem, and has it paid out: all in the caller's transaction. A repetition
 * of a request that did so is answered with the same redeem. Answers its id.
 */
export async function reserve(parts: ClaimParts, tx: Db, wish: Wish): Promise<string> {
  // From here on everything that concerns this gift happens one after the other.
  const gift = await tx.one<GiftRecord>(sql`
    select ${giftColumns} from gifts where id = ${wish.giftId} for no key update`);
  const before = await findRepeated(tx, wish);
  if (before !== undefined) return before;
  const refusal = refusalOf(gift, (parts.now ?? Date.now)());
  if (refusal || !gift) throw new ApiError(refusal ?? 'gift_not_found', undefined, { status: 400 });
  requireReachable(parts, gift, wish.destination);
  const id = await insertRedeem(tx, gift, wish);
  if (id === undefined) throw new ApiError('gift_user_limit_reached');
  await enqueue(tx, wish.destination.chain === 'solana' ? bridgeJob(id) : payoutJob(gift.environment, id));
  return id;
}

async function findRepeated(tx: Db, { giftId, requestKey }: Wish): Promise<string | undefined> {
  if (requestKey === undefined) return undefined;
  const row = await tx.one<{ id: string }>(sql`
    select id from gift_redeems
     where gift_id = ${giftId} and request_key = ${requestKey}
       and created_at > now() - make_interval(hours => ${KEY_HOURS})
     limit 1`);
  return row?.id;
}

/** Undefined where the address has redeemed as often as it may. */
async function insertRedeem(tx: Db, gift: GiftRecord, wish: Wish): Promise<string | undefined> {
  const { chain, address, shownAddress } = wish.destination;
  const row = await tx.one<{ id: string }>(sql`
    with place as (
      insert into gift_users as known (gift_id, address, redeems)
      values (${gift.id}, ${address}, 1)
      on conflict (gift_id, address) do update set redeems = known.redeems + 1
       where known.redeems < ${gift.maxRedeemsPerUser}
      returning gift_id
    ), counted as (
      update gifts set total_redeems = total_redeems + 1 from place where gifts.id = place.gift_id
    )
    insert into gift_redeems (
      id, gift_id, organization_id, environment, destination_chain, address, shown_address, amount_micros, share_micros,
      hold_id, request_key)
    select ${newId('rdm')}, gift_id, ${gift.organizationId}, ${gift.environment}, ${chain}, ${address}, ${shownAddress},
           ${gift.amount}, ${shareOfRedeem(gift, chain)}, ${gift.holdId}, ${wish.requestKey ?? null}
      from place
    returning id`);
  return row?.id;
}
