import { randomInt } from 'node:crypto';
import { type Environment, formatUsd, type Gift, type UsdMicros, usdToNumber } from '@svc/protocol';
import { type Db, type Reads, type Sql, sql } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import { type LedgerOwner, release } from '../ledger/ledger.ts';

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

type Costs = Pick<GiftRecord, 'amount' | 'gas' | 'bridge'>;

/** The most that one redemption may take out of the gift's hold, wherever it goes. */
export function shareOf({ amount, gas, bridge }: Costs): UsdMicros {
  return amount + gas + bridge;
}

/** What a redemption reserves: on Starknet nothing is bridged. */
export function shareOfRedeem({ amount, gas, bridge }: Costs, chain: 'starknet' | 'solana'): UsdMicros {
  return chain === 'solana' ? amount + gas + bridge : amount + gas;
}

/** A redeem that has not ended keeps its share in the hold it was taken from. */
export const openRedeem: Sql = sql`status in ('PENDING', 'BRIDGING', 'ATTESTED')`;

/**
 * Ends the hold of a gift that is exhausted, deleted or expired: what no open redeem has reserved becomes available again.
 * The caller has the gift's row locked. Answers how much that was.
 */
export async function releaseRemainder(tx: Db, { id, holdId }: Pick<GiftRecord, 'id' | 'holdId'>): Promise<UsdMicros> {
  if (holdId === null) return 0n;
  await tx.run(sql`update gifts set hold_id = null, updated_at = now() where id = ${id} and hold_id = ${holdId}`);
  const row = await tx.one<{ rest: UsdMicros }>(sql`
    select amount_micros - settled_micros - released_micros - (
             select coalesce(sum(share_micros), 0) from gift_redeems where hold_id = ${holdId} and ${openRedeem} and not spent
           )::bigint as rest
      from ledger_holds
     where id = ${holdId}`);
  if (!row || row.rest < 0n) throw new Error(`More is reserved for redeems of gift ${id} than its hold has.`);
  if (row.rest > 0n) await release(tx, { holdId, amount: row.rest, reference: 'rest' });
  return row.rest;
}

/** 2·10^11 codes: at ten tries a minute one address needs 40 years for one of ten thousand gifts. Codes of your own can be longer. */
const LENGTH = 8;
const LETTERS = 26;

/** A code for a gift that was given none: letters A-Z that nobody can foresee. */
export function randomCode(): string {
  return Array.from({ length: LENGTH }, () => String.fromCharCode('A'.charCodeAt(0) + randomInt(LETTERS))).join('');
}

/** Codes are the same code whatever their case. */
export const codeKey = (code: string): string => code.toLowerCase();

export type Refusal = 'gift_not_found' | 'gift_inactive' | 'gift_not_started' | 'gift_expired' | 'gift_limit_reached';

type State = Pick<
  GiftRecord,
  'deletedAt' | 'isActive' | 'startsAt' | 'expiresAt' | 'totalRedeems' | 'maxRedeems' | 'holdId'
>;

/** Why nobody can redeem the gift now, the first reason that applies. */
export function refusalOf(gift: State | undefined, nowMs: number): Refusal | undefined {
  if (!gift || gift.deletedAt !== null) return 'gift_not_found';
  if (!gift.isActive) return 'gift_inactive';
  if (nowMs < gift.startsAt.getTime()) return 'gift_not_started';
  if (isExpired(gift, nowMs)) return 'gift_expired';
  if (gift.totalRedeems >= gift.maxRedeems) return 'gift_limit_reached';
  // A process with a clock ahead of ours released it already.
  if (gift.holdId === null) return 'gift_expired';
  return undefined;
}

/** USDC has six decimals, as credits have. */
export function usdcOf(networks: Pick<Networks, 'token'>, environment: Environment): bigint {
  const address = networks.token(environment, 'STARKNET', 'USDC')?.address;
  if (!address) throw new Error(`There is no USDC on the Starknet of ${environment}.`);
  return BigInt(address);
}
