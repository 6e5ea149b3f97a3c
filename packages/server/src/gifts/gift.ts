import { type Environment, formatUsd, type Gift, type UsdMicros, usdToNumber } from '@svc/protocol';
import { type Db, type Reads, type Sql, sql } from '@svc/store';
import type { LedgerOwner } from '../ledger/entries.ts';

/** A gift as it is kept. */
export interface GiftRecord {
  readonly id: string;
  readonly organizationId: string;
  readonly environment: Environment;
  readonly code: string;
  readonly name: string;
  readonly type: Gift['type'];
  readonly amount: UsdMicros;
  /** What one redemption may cost beside its amount. */
  readonly gas: UsdMicros;
  readonly bridge: UsdMicros;
  readonly maxRedeems: number;
  readonly maxRedeemsPerUser: number;
  readonly totalRedeems: number;
  readonly redeemed: UsdMicros;
  readonly startsAt: Date;
  readonly expiresAt: Date | null;
  readonly isActive: boolean;
  readonly cctpFast: boolean;
  /** Null once its rest was released. */
  readonly holdId: string | null;
  readonly recipientEmail: string | null;
  readonly campaignName: string | null;
  readonly deletedAt: Date | null;
}

/** What a query of `gifts` answers to be read as a `GiftRecord`. */
export const giftColumns: Sql = sql`
  gifts.id, gifts.organization_id as "organizationId", gifts.environment, gifts.code, gifts.name, gifts.type,
  gifts.amount_micros as amount, gifts.gas_micros as gas, gifts.bridge_micros as bridge,
  gifts.max_redeems as "maxRedeems", gifts.max_redeems_per_user as "maxRedeemsPerUser",
  gifts.total_redeems as "totalRedeems", gifts.redeemed_micros as redeemed, gifts.starts_at as "startsAt",
  gifts.expires_at as "expiresAt", gifts.is_active as "isActive", gifts.cctp_fast as "cctpFast",
  gifts.hold_id as "holdId", gifts.recipient_email as "recipientEmail", gifts.campaign_name as "campaignName",
  gifts.deleted_at as "deletedAt"`;

/** With what its hold still has. */
export interface ShownGift extends GiftRecord {
  readonly held: UsdMicros | null;
}

export const shownGiftColumns: Sql = sql`
  ${giftColumns},
  (select amount_micros - settled_micros - released_micros from ledger_holds where id = gifts.hold_id) as held`;

/** A gift of this organisation that was not deleted. */
export function findGift(
  db: Pick<Reads, 'one'>,
  { organizationId, environment }: LedgerOwner,
  id: string,
): Promise<ShownGift | undefined> {
  return db.one<ShownGift>(sql`
    select ${shownGiftColumns}
      from gifts
     where id = ${id} and organization_id = ${organizationId} and environment = ${environment} and deleted_at is null`);
}

/** The same, and nobody else changes or redeems it until the transaction ends. */
export function lockGift(
  tx: Db,
  { organizationId, environment }: LedgerOwner,
  id: string,
): Promise<GiftRecord | undefined> {
  return tx.one<GiftRecord>(sql`
    select ${giftColumns}
      from gifts
     where id = ${id} and organization_id = ${organizationId} and environment = ${environment} and deleted_at is null
       for no key update`);
}

export function isExpired({ expiresAt }: Pick<GiftRecord, 'expiresAt'>, nowMs: number): boolean {
  return expiresAt !== null && expiresAt.getTime() <= nowMs;
}

export function toGift(gift: ShownGift): Gift {
  return {
    id: gift.id,
    code: gift.code,
    name: gift.name,
    amount: formatUsd(gift.amount),
    token: 'USDC',
    chain: 'STARKNET',
    type: gift.type,
    maxRedeems: gift.maxRedeems,
    maxRedeemsPerUser: gift.maxRedeemsPerUser,
    totalRedeems: gift.totalRedeems,
    startsAt: gift.startsAt.toISOString(),
    expiresAt: gift.expiresAt?.toISOString() ?? null,
    isActive: gift.isActive,
    cctpFast: gift.cctpFast,
    holdLedgerEntryId: gift.holdId,
    totalHeldUsd: gift.held === null ? null : usdToNumber(gift.held),
    totalRedeemedUsd: usdToNumber(gift.redeemed),
    recipientEmail: gift.recipientEmail,
    campaignName: gift.campaignName,
  };
}
