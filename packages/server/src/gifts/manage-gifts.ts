import {
  ApiError,
  type endpoints,
  type Gift,
  type GiftRedeem,
  type ReceiveProof,
  type UsdMicros,
  usdToNumber,
} from '@svc/protocol';
import { type Db, type Reads, type Sql, sql } from '@svc/store';
import { recordChange } from '../audit-log.ts';
import {
  type Answer,
  type Call,
  type Caller,
  microsOf,
  olderThan,
  type Place,
  readCursor,
  readPage,
  toCursorPage,
  toPage,
} from '../http/call.ts';
import { balance, hold } from '../ledger/ledger.ts';
import { cancelMailsOfGift } from '../mail/mail.ts';
import { countPublicKeyGifts, type GiftDeps, readExpiry, requireAfter } from './create-gifts.ts';
import {
  codeKey,
  findGift,
  type GiftRecord,
  type GiftWithHold,
  giftWithHoldColumns,
  isExpired,
  lockGift,
  openRedeem,
  releaseRemainder,
  seesCodes,
  shareOf,
  toGift,
} from './gift.ts';
import { receiveProofIn, toRedeem } from './redeem.ts';

type UpdateGift = typeof endpoints.updateGift;

export async function updateGift(
  { publicUrl, now = Date.now }: Pick<GiftDeps, 'publicUrl' | 'now'>,
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
    else if (gift.holdId === null) await holdAgain(tx, caller, gift, now);
    const changed = await findGift(tx, caller, gift.id);
    if (!changed) throw new Error('A gift that was changed is not there.');
    return toGift(changed, caller, publicUrl);
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
async function holdAgain(tx: Db, caller: Caller, gift: GiftRecord, now: () => number): Promise<void> {
  const row = await tx.one<{ open: bigint }>(sql`
    select count(*) as open from gift_redeems where gift_id = ${gift.id} and ${openRedeem}`);
  const left = BigInt(gift.maxRedeems - gift.totalRedeems) + (row?.open ?? 0n);
  if (left === 0n) return;
  await countPublicKeyGifts(tx, caller, gift.amount * left, now);
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

export async function getGift(reads: Reads, caller: Caller, id: string, publicUrl: string): Promise<Gift> {
  const gift = await findGift(reads, caller, id);
  if (!gift) throw new ApiError('gift_not_found');
  return toGift(gift, caller, publicUrl);
}

export async function listGifts(
  db: Reads,
  caller: Caller,
  query: Call<ListGifts>['query'],
  publicUrl: string,
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
    gifts.map((gift) => toGift(gift, caller, publicUrl)),
    Number(count?.total ?? 0n),
    page,
  );
}

function matches(caller: Caller, query: Call<ListGifts>['query']): Sql {
  const { organizationId, environment } = caller;
  const { isActive = null, type = null, campaignName = null, search } = query;
  return sql`organization_id = ${organizationId} and environment = ${environment} and deleted_at is null
    and (${isActive}::boolean is null or is_active = ${isActive})
    and (${type}::text is null or type = ${type})
    and (${campaignName}::text is null or campaign_name = ${campaignName})
    ${search === undefined ? sql`` : found(search, caller)}`;
}

/** Who does not see codes cannot search for them: the beginning of one would be found letter by letter. */
function found(search: string, caller: Caller): Sql {
  const escaped = search.replaceAll(/[\\%_]/g, (character) => `\\${character}`);
  const ofCode = seesCodes(caller) ? sql`or code_key like ${`${codeKey(escaped)}%`}` : sql``;
  return sql`and (id = ${search} or name ilike ${`%${escaped}%`} ${ofCode})`;
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

type ListCampaigns = typeof endpoints.listCampaigns;

interface CampaignRow extends Place {
  readonly name: string;
  readonly gifts: bigint;
  readonly active: bigint;
  readonly redeems: bigint;
  readonly total: UsdMicros;
  readonly redeemed: UsdMicros;
  readonly first: Date;
  readonly last: Date;
}

/** A campaign stands where its newest gift does. */
export async function listCampaigns(
  db: Reads,
  caller: Caller,
  query: Call<ListCampaigns>['query'],
  nowMs: number,
): Promise<Answer<ListCampaigns>> {
  const { limit, after } = readCursor(query);
  const now = new Date(nowMs);
  const rows = await db.rows<CampaignRow>(sql`
    with campaigns as (
      select campaign_name as name, max(id) as id, min(created_at) as first, max(created_at) as last,
             count(*) filter (where deleted_at is null) as gifts,
             count(*) filter (
               where deleted_at is null and is_active and starts_at <= ${now} and total_redeems < max_redeems
                 and (expires_at is null or expires_at > ${now})) as active,
             sum(total_redeems)::bigint as redeems,
             coalesce(sum(amount_micros * max_redeems) filter (where deleted_at is null), 0)::bigint as total,
             sum(redeemed_micros)::bigint as redeemed
        from gifts
       where organization_id = ${caller.organizationId} and environment = ${caller.environment}
         and campaign_name is not null
       group by campaign_name
    )
    select *, ${microsOf(sql`last`)} as micros
      from campaigns
     where gifts > 0 ${olderThan(after, sql`last`, sql`id`)}
     order by last desc, id desc
     limit ${limit + 1}`);
  return toCursorPage(rows, limit, (row) => ({
    name: row.name,
    gifts: Number(row.gifts),
    activeGifts: Number(row.active),
    redeems: Number(row.redeems),
    totalUsd: usdToNumber(row.total),
    redeemedUsd: usdToNumber(row.redeemed),
    firstCreatedAt: row.first.toISOString(),
    lastCreatedAt: row.last.toISOString(),
  }));
}

type ListHolds = typeof endpoints.listHolds;

interface HoldRow extends Place {
  readonly amount: UsdMicros;
  readonly settled: UsdMicros;
  readonly released: UsdMicros;
  readonly giftId: string | null;
  readonly giftName: string | null;
  readonly redeemId: string | null;
  readonly createdAt: Date;
}

/** Only gifts and redeems take holds. Ids ascend with time, so the index gives the order. */
export async function listHolds(
  db: Reads,
  { organizationId, environment }: Caller,
  query: Call<ListHolds>['query'],
): Promise<Answer<ListHolds>> {
  const { limit, after } = readCursor(query);
  const rows = await db.rows<HoldRow>(sql`
    select hold.id, hold.amount_micros as amount, hold.settled_micros as settled, hold.released_micros as released,
           gifts.id as "giftId", gifts.name as "giftName", r.id as "redeemId", entry.created_at as "createdAt",
           ${microsOf(sql`entry.created_at`)} as micros
      from ledger_holds hold
      join ledger_entries entry on entry.id = hold.id
      left join gift_redeems r on r.id = entry.reference
      left join gifts on gifts.id = coalesce(r.gift_id, entry.reference)
     where hold.organization_id = ${organizationId} and hold.environment = ${environment} and hold.status = 'OPEN'
           ${after === undefined ? sql`` : sql`and hold.id < ${after.id}`}
     order by hold.id desc
     limit ${limit + 1}`);
  return toCursorPage(rows, limit, ({ micros: _, amount, settled, released, createdAt, ...row }) => ({
    ...row,
    amountUsd: usdToNumber(amount),
    settledUsd: usdToNumber(settled),
    releasedUsd: usdToNumber(released),
    heldUsd: usdToNumber(amount - settled - released),
    createdAt: createdAt.toISOString(),
  }));
}

type ListGiftRedeems = typeof endpoints.listGiftRedeems;

interface Row extends Pick<GiftRedeem, 'id' | 'giftId' | 'code' | 'status' | 'destinationChain' | 'walletAddress'> {
  readonly amount: UsdMicros;
  readonly transactionHash: string | null;
  readonly receiveHash: string | null;
  readonly receiveProof: ReceiveProof | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Includes deleted gifts. */
const redeemRows: Sql = sql`
  select r.id, r.gift_id as "giftId", gifts.code, r.status, r.destination_chain as "destinationChain",
         r.shown_address as "walletAddress", r.amount_micros as amount, r.transaction_hash as "transactionHash",
         r.receive_hash as "receiveHash", ${receiveProofIn(sql`r`)} as "receiveProof", r.created_at as "createdAt", r.updated_at as "updatedAt"
    from gift_redeems r join gifts on gifts.id = r.gift_id`;

const ofCaller = ({ organizationId, environment }: Caller): Sql =>
  sql`r.organization_id = ${organizationId} and r.environment = ${environment}`;

export async function getGiftRedeem(reads: Reads, caller: Caller, id: string): Promise<GiftRedeem> {
  const row = await reads.one<Row>(sql`${redeemRows} where r.id = ${id} and ${ofCaller(caller)}`);
  if (!row) throw new ApiError('redeem_not_found');
  return toGiftRedeem(row, caller);
}

export async function listGiftRedeems(
  db: Reads,
  caller: Caller,
  query: Call<ListGiftRedeems>['query'],
): Promise<Answer<ListGiftRedeems>> {
  const page = readPage(query);
  const { giftId } = query;
  const which = sql`${ofCaller(caller)} ${giftId === undefined ? sql`` : sql`and r.gift_id = ${giftId}`}`;
  const [rows, count] = await Promise.all([
    db.rows<Row>(sql`
      ${redeemRows} where ${which}
       order by r.created_at desc, r.id desc limit ${page.limit} offset ${page.offset}`),
    db.one<{ total: bigint }>(sql`select count(*) as total from gift_redeems r where ${which}`),
  ]);
  return toPage(
    rows.map((row) => toGiftRedeem(row, caller)),
    Number(count?.total ?? 0n),
    page,
  );
}

function toGiftRedeem({ code, walletAddress, ...row }: Row, caller: Caller): GiftRedeem {
  return { ...toRedeem({ ...row, shownAddress: walletAddress }), code: seesCodes(caller) ? code : '' };
}
