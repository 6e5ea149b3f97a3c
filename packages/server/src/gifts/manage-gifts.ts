import { ApiError, type endpoints, type Gift, type GiftRedeem, type UsdMicros, usdToNumber } from '@svc/protocol';
import { type Db, type Reads, type Sql, sql } from '@svc/store';
import { recordChange } from '../audit-log.ts';
import { type Answer, type Call, type Caller, readPage, toPage } from '../http/call.ts';
import { balance, hold } from '../ledger/ledger.ts';
import { cancelMailsOfGift } from '../mail/mail.ts';
import { type GiftDeps, readExpiry, requireAfter } from './create-gifts.ts';
import {
  findGift,
  type GiftRecord,
  type GiftWithHold,
  giftWithHoldColumns,
  isExpired,
  lockGift,
  openRedeem,
  releaseRemainder,
  shareOf,
  toGift,
} from './gift.ts';
import { toRedeem } from './redeem.ts';

type UpdateGift = typeof endpoints.updateGift;

export async function updateGift(
  { now = Date.now }: Pick<GiftDeps, 'now'>,
  { caller, params, body, transact }: Call<UpdateGift>,
): Promise<Answer<UpdateGift>> {
  const expiry = body.expiresAt === undefined ? undefined : readExpiry(body.expiresAt);
  return transact(async (tx): Promise<Gift> => {
    const gift = await lockGift(tx, caller, params.id);
    if (!gift) throw new ApiError('gift_not_found');
    const { name = gift.name, isActive = gift.isActive } = body;
    const expiresAt = expiry === undefined ? gift.expiresAt : expiry;
    requireAfter(expiresAt, gift.startsAt);
    await tx.run(sql`
      update gifts set name = ${name}, is_active = ${isActive}, expires_at = ${expiresAt}, updated_at = now()
       where id = ${gift.id}`);
    await recordUpdate(tx, caller, gift, { name, isActive, expiresAt });
    if (isExpired({ expiresAt }, now())) await releaseRemainder(tx, gift);
    else if (gift.holdId === null) await holdAgain(tx, gift);
    const changed = await findGift(tx, caller, gift.id);
    if (!changed) throw new Error('A gift that was changed is not there.');
    return toGift(changed, caller);
  });
}

type Changeable = Pick<GiftRecord, 'name' | 'isActive' | 'expiresAt'>;

async function recordUpdate(tx: Db, caller: Caller, gift: GiftRecord, after: Changeable): Promise<void> {
  const changes = Object.fromEntries(
    Object.entries(after).filter(([name, value]) => String(value) !== String(gift[name as keyof Changeable])),
  );
  if (Object.keys(changes).length === 0) return;
  await recordChange(tx, caller, { action: 'gift.updated', target: gift.id, changes });
}

/** Open redeems are counted again, besides their share in the old hold: a failed one frees its place. */
async function holdAgain(tx: Db, gift: GiftRecord): Promise<void> {
  const row = await tx.one<{ open: bigint }>(sql`
    select count(*) as open from gift_redeems where gift_id = ${gift.id} and ${openRedeem}`);
  const left = BigInt(gift.maxRedeems - gift.totalRedeems) + (row?.open ?? 0n);
  if (left === 0n) return;
  const { id } = await hold(tx, { ...gift, amount: shareOf(gift) * left, reference: gift.id });
  await tx.run(sql`update gifts set hold_id = ${id} where id = ${gift.id}`);
}

type DeleteGift = typeof endpoints.deleteGift;

/** Open redeems continue with their shares. */
export function deleteGift({ caller, params, transact }: Call<DeleteGift>): Promise<Answer<DeleteGift>> {
  return transact(async (tx) => {
    const gift = await lockGift(tx, caller, params.id);
    if (!gift) throw new ApiError('gift_not_found');
    await tx.run(sql`update gifts set deleted_at = now(), updated_at = now() where id = ${gift.id}`);
    const releasedUsd = usdToNumber(await releaseRemainder(tx, gift));
    const cancelledMails = await cancelMailsOfGift(tx, gift.id);
    const changes = { releasedUsd, cancelledMails };
    await recordChange(tx, caller, { action: 'gift.deleted', target: gift.id, changes });
    return { success: true, releasedUsd };
  });
}

/** Organisations' money operations wait for the transaction. */
const BATCH = 100;
const MAX_BATCHES = 100;

/** Gifts that are locked now are left for the next run. */
export async function releaseExpired(db: Db, nowMs: number, signal?: AbortSignal): Promise<void> {
  for (let batch = 0; batch < MAX_BATCHES && !signal?.aborted; batch++) {
    if ((await releaseBatch(db, new Date(nowMs))) < BATCH) return;
  }
}

function releaseBatch(db: Db, now: Date): Promise<number> {
  return db.tx(async (tx) => {
    const gifts = await tx.rows<Pick<GiftRecord, 'id' | 'holdId' | 'organizationId' | 'environment'>>(sql`
      select id, hold_id as "holdId", organization_id as "organizationId", environment
        from gifts
       where hold_id is not null and expires_at <= ${now}
       order by expires_at
       limit ${BATCH}
         for no key update skip locked`);
    // One order of ledgers, so that two runs cannot deadlock.
    const ledgerOf = ({ organizationId, environment }: (typeof gifts)[number]) => `${organizationId} ${environment}`;
    const sorted = gifts.toSorted((a, b) => (ledgerOf(a) < ledgerOf(b) ? -1 : 1));
    for (const gift of sorted) await releaseRemainder(tx, gift);
    return gifts.length;
  });
}

type ListGifts = typeof endpoints.listGifts;
type GetGiftUsage = typeof endpoints.getGiftUsage;

export async function getGift(reads: Reads, caller: Caller, id: string): Promise<Gift> {
  const gift = await findGift(reads, caller, id);
  if (!gift) throw new ApiError('gift_not_found');
  return toGift(gift, caller);
}

export async function listGifts(
  db: Reads,
  caller: Caller,
  query: Call<ListGifts>['query'],
): Promise<Answer<ListGifts>> {
  const page = readPage(query);
  const matching = matches(caller, query);
  const [gifts, count] = await Promise.all([
    db.rows<GiftWithHold>(sql`
      select ${giftWithHoldColumns} from gifts where ${matching}
       order by created_at desc, id desc limit ${page.limit} offset ${page.offset}`),
    db.one<{ total: bigint }>(sql`select count(*) as total from gifts where ${matching}`),
  ]);
  return toPage(
    gifts.map((gift) => toGift(gift, caller)),
    Number(count?.total ?? 0n),
    page,
  );
}

function matches({ organizationId, environment }: Caller, query: Call<ListGifts>['query']): Sql {
  const { isActive = null, type = null, campaignName = null } = query;
  return sql`organization_id = ${organizationId} and environment = ${environment} and deleted_at is null
    and (${isActive}::boolean is null or is_active = ${isActive})
    and (${type}::text is null or type = ${type})
    and (${campaignName}::text is null or campaign_name = ${campaignName})`;
}

/** Excludes deleted gifts, but not what was redeemed of them. */
export async function getGiftUsage(db: Reads, caller: Caller, nowMs: number): Promise<Answer<GetGiftUsage>> {
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
    // Only gifts take holds.
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

type ListGiftRedeems = typeof endpoints.listGiftRedeems;

interface Row extends Pick<GiftRedeem, 'id' | 'giftId' | 'code' | 'status' | 'destinationChain' | 'walletAddress'> {
  readonly amount: UsdMicros;
  readonly transactionHash: string | null;
  readonly receiveHash: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Includes deleted gifts. */
const redeemRows: Sql = sql`
  select r.id, r.gift_id as "giftId", gifts.code, r.status, r.destination_chain as "destinationChain",
         r.shown_address as "walletAddress", r.amount_micros as amount, r.transaction_hash as "transactionHash",
         r.receive_hash as "receiveHash", r.created_at as "createdAt", r.updated_at as "updatedAt"
    from gift_redeems r join gifts on gifts.id = r.gift_id`;

const ofCaller = ({ organizationId, environment }: Caller): Sql =>
  sql`r.organization_id = ${organizationId} and r.environment = ${environment}`;

export async function getGiftRedeem(reads: Reads, caller: Caller, id: string): Promise<GiftRedeem> {
  const row = await reads.one<Row>(sql`${redeemRows} where r.id = ${id} and ${ofCaller(caller)}`);
  if (!row) throw new ApiError('redeem_not_found');
  return toGiftRedeem(row);
}

export async function listGiftRedeems(
  db: Reads,
  caller: Caller,
  query: Call<ListGiftRedeems>['query'],
): Promise<Answer<ListGiftRedeems>> {
  const page = readPage(query);
  const [rows, count] = await Promise.all([
    db.rows<Row>(sql`
      ${redeemRows} where ${ofCaller(caller)}
       order by r.created_at desc, r.id desc limit ${page.limit} offset ${page.offset}`),
    db.one<{ total: bigint }>(sql`select count(*) as total from gift_redeems r where ${ofCaller(caller)}`),
  ]);
  return toPage(rows.map(toGiftRedeem), Number(count?.total ?? 0n), page);
}

function toGiftRedeem({ code, walletAddress, ...row }: Row): GiftRedeem {
  return { ...toRedeem({ ...row, shownAddress: walletAddress }), code };
}
