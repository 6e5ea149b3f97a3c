import { randomInt } from 'node:crypto';
import { type Environment, formatUsd, type Gift, type UsdMicros, usdToNumber } from '@svc/protocol';
import { type Db, type Reads, type Sql, sql } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import type { Caller } from '../http/call.ts';
import { type LedgerOwner, release } from '../ledger/ledger.ts';

export interface GiftRecord {
  readonly id: string;
  readonly organizationId: string;
  readonly environment: Environment;
  readonly code: string;
  readonly name: string;
  readonly type: Gift['type'];
  readonly amount: UsdMicros;
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
  /** Null once the remainder is released. */
  readonly holdId: string | null;
  readonly recipientEmail: string | null;
  readonly campaignName: string | null;
  readonly deletedAt: Date | null;
}

export const giftColumns: Sql = sql`
  gifts.id, gifts.organization_id as "organizationId", gifts.environment, gifts.code, gifts.name, gifts.type,
  gifts.amount_micros as amount, gifts.gas_micros as gas, gifts.bridge_micros as bridge,
  gifts.max_redeems as "maxRedeems", gifts.max_redeems_per_user as "maxRedeemsPerUser",
  gifts.total_redeems as "totalRedeems", gifts.redeemed_micros as redeemed, gifts.starts_at as "startsAt",
  gifts.expires_at as "expiresAt", gifts.is_active as "isActive", gifts.cctp_fast as "cctpFast",
  gifts.hold_id as "holdId", gifts.recipient_email as "recipientEmail", gifts.campaign_name as "campaignName",
  gifts.deleted_at as "deletedAt"`;

export interface GiftWithHold extends GiftRecord {
  readonly held: UsdMicros | null;
}

export const giftWithHoldColumns: Sql = sql`
  ${giftColumns},
  (select amount_micros - settled_micros - released_micros from ledger_holds where id = gifts.hold_id) as held`;

export function findGift(
  db: Pick<Reads, 'one'>,
  { organizationId, environment }: LedgerOwner,
  id: string,
): Promise<GiftWithHold | undefined> {
  return db.one<GiftWithHold>(sql`
    select ${giftWithHoldColumns}
      from gifts
     where id = ${id} and organization_id = ${organizationId} and environment = ${environment} and deleted_at is null`);
}

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

/** Anyone can read a public key, so it does not show who gets a gift. */
export const seesRecipients = ({ proof }: Pick<Caller, 'proof'>): boolean => proof !== 'public key';

/** In production it does not show codes either: each is worth its gift. The answer that creates a gift has its code. */
export const seesCodes = ({ proof, environment }: Pick<Caller, 'proof' | 'environment'>): boolean =>
  proof !== 'public key' || environment !== 'production';

export const claimUrlOf = (publicUrl: string, code: string): string => `${publicUrl}/claim/${code}`;

export function toGift(gift: GiftWithHold, caller: Pick<Caller, 'proof' | 'environment'>, publicUrl: string): Gift {
  const isShown = seesCodes(caller);
  return {
    id: gift.id,
    code: isShown ? gift.code : '',
    claimUrl: isShown ? claimUrlOf(publicUrl, gift.code) : '',
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
    recipientEmail: seesRecipients(caller) ? gift.recipientEmail : null,
    campaignName: gift.campaignName,
  };
}

type Costs = Pick<GiftRecord, 'amount' | 'gas' | 'bridge'>;

/** The most that one redeem takes from the hold, on either chain. */
export function shareOf({ amount, gas, bridge }: Costs): UsdMicros {
  return amount + gas + bridge;
}

export function shareOfRedeem({ amount, gas, bridge }: Costs, chain: 'starknet' | 'solana'): UsdMicros {
  return chain === 'solana' ? amount + gas + bridge : amount + gas;
}

export const openRedeem: Sql = sql`status in ('PENDING', 'BRIDGING', 'ATTESTED')`;

/** What is left in a hold but for the shares of open redeems. */
export const restOfHold = (hold: Sql): Sql => sql`
  ${hold}.amount_micros - ${hold}.settled_micros - ${hold}.released_micros - (
    select coalesce(sum(share_micros), 0) from gift_redeems
     where gift_redeems.hold_id = ${hold}.id and ${openRedeem} and not spent)::bigint`;

/** But for the shares of open redeems. The caller has locked the gift. Returns the amount. */
export async function releaseRemainder(tx: Db, { id, holdId }: Pick<GiftRecord, 'id' | 'holdId'>): Promise<UsdMicros> {
  if (holdId === null) return 0n;
  await tx.run(sql`update gifts set hold_id = null, updated_at = now() where id = ${id} and hold_id = ${holdId}`);
  const row = await tx.one<{ rest: UsdMicros }>(sql`
    select ${restOfHold(sql`ledger_holds`)} as rest from ledger_holds where id = ${holdId}`);
  if (!row || row.rest < 0n) throw new Error(`More is reserved for redeems of gift ${id} than its hold has.`);
  if (row.rest > 0n) await release(tx, { holdId, amount: row.rest, reference: 'rest' });
  return row.rest;
}

/** 2·10^11 codes: at ten attempts a minute one client needs 40 years to hit one of ten thousand gifts. */
const LENGTH = 8;
const LETTERS = 26;

export function randomCode(): string {
  return Array.from({ length: LENGTH }, () => String.fromCharCode('A'.charCodeAt(0) + randomInt(LETTERS))).join('');
}

export const codeKey = (code: string): string => code.toLowerCase();

export type Refusal = 'gift_not_found' | 'gift_inactive' | 'gift_not_started' | 'gift_expired' | 'gift_limit_reached';

type State = Pick<
  GiftRecord,
  'deletedAt' | 'isActive' | 'startsAt' | 'expiresAt' | 'totalRedeems' | 'maxRedeems' | 'holdId'
>;

export function refusalOf(gift: State | undefined, nowMs: number): Refusal | undefined {
  if (!gift || gift.deletedAt !== null) return 'gift_not_found';
  if (!gift.isActive) return 'gift_inactive';
  if (nowMs < gift.startsAt.getTime()) return 'gift_not_started';
  if (isExpired(gift, nowMs)) return 'gift_expired';
  if (gift.totalRedeems >= gift.maxRedeems) return 'gift_limit_reached';
  // Released by a process whose clock is ahead.
  if (gift.holdId === null) return 'gift_expired';
  return undefined;
}

/** USDC has six decimals, as credits have. */
export function usdcOf(networks: Pick<Networks, 'token'>, environment: Environment): bigint {
  const address = networks.token(environment, 'STARKNET', 'USDC')?.address;
  if (!address) throw new Error(`There is no USDC on the Starknet of ${environment}.`);
  return BigInt(address);
}
