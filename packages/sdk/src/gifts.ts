import { type AnswerOf, type endpoints, type Gift, type GiftType, parseUsd, usdToNumber } from '@svc/protocol';
import type { Client } from './client/client.ts';
import { SvcInputError } from './client/errors.ts';
import { eachItem, type List, type Page, type PageOptions, toList } from './client/pages.ts';
import { request } from './client/request.ts';

export interface CreateGiftParams {
  /** 4 to 64 letters, digits, `_` and `-`. The code is the only credential: anyone who knows it can redeem it. */
  readonly code: string;
  readonly name: string;
  /** USDC per redeem: above 0, at most 10,000, at most 6 decimals. */
  readonly amount: string | number;
  readonly token?: 'USDC' | undefined;
  readonly chain?: 'STARKNET' | undefined;
  /** Default: `GIFT_CARD`. */
  readonly type?: GiftType | undefined;
  /** In total. */
  readonly maxRedeems: number;
  /** Per wallet. */
  readonly maxRedeemsPerUser: number;
  /** ISO 8601, like `expiresAt`. */
  readonly startsAt: string;
  /** Default: never. */
  readonly expiresAt?: string | null | undefined;
  readonly isActive: boolean;
  /** Redeems on Solana: true (default) takes seconds and a small fee, false takes hours and no fee. */
  readonly cctpFast?: boolean | undefined;
  /** Store one before the call: repeating the call within 24 hours returns the same gift. Default: a new one. */
  readonly idempotencyKey?: string | undefined;
}

/**
 * Creates a gift code and holds its credits: `amount` times `maxRedeems`, plus an allowance for gas.
 *
 * @example
 * const gift = await svc.gifts.createGift({
 *   code: `SPRING-${crypto.randomUUID()}`,
 *   name: 'Spring',
 *   amount: '2.50',
 *   maxRedeems: 100,
 *   maxRedeemsPerUser: 1,
 *   startsAt: new Date().toISOString(),
 *   isActive: true,
 * });
 */
export async function createGift(client: Client, params: CreateGiftParams): Promise<Gift> {
  const { idempotencyKey, amount, ...rest } = params;
  return await request<typeof endpoints.createGift>(client, {
    route: 'POST /gifts',
    access: 'either',
    body: { ...rest, amount: readGiftAmount(amount) },
    idempotencyKey,
  });
}

export interface GetGiftParams {
  readonly id: string;
}

/**
 * Reads one of your gifts.
 *
 * @example
 * const { code, totalRedeems, maxRedeems } = await svc.gifts.getGift({ id: gift.id });
 */
export function getGift(client: Client, { id }: GetGiftParams): Promise<Gift> {
  return request<typeof endpoints.getGift>(client, { route: 'GET /gifts/{id}', access: 'either', params: { id } });
}

export interface GiftFilters {
  readonly isActive?: boolean | undefined;
  readonly type?: GiftType | undefined;
  /** The `name` of the bulk creation. */
  readonly campaignName?: string | undefined;
}

export interface ListGiftsParams extends GiftFilters {
  /** From 1 on. Default: 1. */
  readonly page?: number | undefined;
  /** Items on a page, at most 100. Default: 10. */
  readonly limit?: number | undefined;
}

/**
 * Reads one page of your gifts, newest first. `gifts` iterates over all pages.
 *
 * @example
 * const { items, total } = await svc.gifts.listGifts({ isActive: true, limit: 20 });
 */
export async function listGifts(client: Client, params: ListGiftsParams = {}): Promise<List<Gift>> {
  return toList(await readGiftPage(client, params));
}

export interface GiftsParams extends GiftFilters, PageOptions {}

/**
 * Iterates over all your gifts, newest first. Pages are read on demand.
 *
 * @example
 * for await (const gift of svc.gifts.gifts({ campaignName: 'Navidad' })) console.log(gift.code, gift.totalRedeems);
 */
export function gifts(client: Client, params: GiftsParams = {}): AsyncGenerator<Gift, void, undefined> {
  const { isActive, type, campaignName } = params;
  return eachItem((query) => readGiftPage(client, { isActive, type, campaignName, ...query }), params);
}

export interface UpdateGiftParams {
  readonly id: string;
  readonly isActive?: boolean | undefined;
  readonly name?: string | undefined;
  /** ISO 8601; null: never. Extending an expired gift holds its credits again. */
  readonly expiresAt?: string | null | undefined;
}

/**
 * Activates, deactivates or renames a gift, or changes its expiry. Omitted fields stay.
 *
 * @example
 * const paused = await svc.gifts.updateGift({ id: gift.id, isActive: false });
 */
export async function updateGift(client: Client, { id, ...changes }: UpdateGiftParams): Promise<Gift> {
  const { isActive, name, expiresAt } = changes;
  if (isActive === undefined && name === undefined && expiresAt === undefined) {
    throw new SvcInputError('invalid_input', 'Pass isActive, name or expiresAt: nothing would change.');
  }
  return await request<typeof endpoints.updateGift>(client, {
    route: 'PATCH /gifts/{id}',
    access: 'either',
    params: { id },
    body: { isActive, name, expiresAt },
  });
}

export interface DeleteGiftParams {
  readonly id: string;
}

/** `releasedUsd`: the released credits. */
export type GiftDeleted = AnswerOf<typeof endpoints.deleteGift>;

/**
 * Deletes a gift and releases the credits that it still holds. Past redeems stay readable.
 *
 * @example
 * const { releasedUsd } = await svc.gifts.deleteGift({ id: gift.id });
 */
export function deleteGift(client: Client, { id }: DeleteGiftParams): Promise<GiftDeleted> {
  return request<typeof endpoints.deleteGift>(client, {
    route: 'DELETE /gifts/{id}',
    access: 'either',
    params: { id },
  });
}

export type GiftUsage = AnswerOf<typeof endpoints.getGiftUsage>;

/**
 * Reads totals of all your gifts.
 *
 * @example
 * const { activeGifts, totalHeldUsd, totalRedeemedUsd } = await svc.gifts.getGiftUsage();
 */
export function getGiftUsage(client: Client): Promise<GiftUsage> {
  return request<typeof endpoints.getGiftUsage>(client, { route: 'GET /gifts/usage', access: 'either' });
}

export interface ListGiftRedeemsParams {
  /** From 1 on. Default: 1. */
  readonly page?: number | undefined;
  /** Items on a page, at most 100. Default: 10. */
  readonly limit?: number | undefined;
}

/**
 * Reads one page of the redeems of your gifts, newest first. `giftRedeems` iterates over all pages.
 *
 * @example
 * const { items, total } = await svc.gifts.listGiftRedeems({ limit: 20 });
 */
export async function listGiftRedeems(client: Client, params: ListGiftRedeemsParams = {}): Promise<List<GiftRedeem>> {
  return toList(await readGiftRedeemPage(client, params));
}

/**
 * Iterates over all redeems of your gifts, newest first. Pages are read on demand.
 *
 * @example
 * for await (const { code, amount, status } of svc.gifts.giftRedeems()) console.log(code, amount, status);
 */
export function giftRedeems(client: Client, params: PageOptions = {}): AsyncGenerator<GiftRedeem, void, undefined> {
  return eachItem((query) => readGiftRedeemPage(client, query), params);
}

export interface GetGiftRedeemParams {
  readonly id: string;
}

/** A redeem as the gift's owner sees it. */
export type GiftRedeem = AnswerOf<typeof endpoints.getGiftRedeem>;

/**
 * Reads one redeem of your gifts.
 *
 * @example
 * const { status, walletAddress } = await svc.gifts.getGiftRedeem({ id: redeemId });
 */
export function getGiftRedeem(client: Client, { id }: GetGiftRedeemParams): Promise<GiftRedeem> {
  return request<typeof endpoints.getGiftRedeem>(client, {
    route: 'GET /gifts/history/redeems/{id}',
    access: 'either',
    params: { id },
  });
}

/** Of one redeem, in millionths of a dollar. */
const MAX_AMOUNT = 10_000_000_000n;

/** The JSON number that the API takes: exact, because ten thousand dollars in micros have eleven digits. */
export function readGiftAmount(amount: string | number): number {
  const micros = parseUsd(amount);
  if (!micros.ok) throw new SvcInputError('invalid_input', `amount ${micros.reason}.`);
  if (micros.value === 0n || micros.value > MAX_AMOUNT) {
    throw new SvcInputError('invalid_input', 'amount must be more than 0 and at most 10000.');
  }
  return usdToNumber(micros.value);
}

function readGiftPage(client: Client, params: ListGiftsParams): Promise<Page<Gift>> {
  const { isActive, type, campaignName, page, limit } = params;
  return request<typeof endpoints.listGifts>(client, {
    route: 'GET /gifts',
    access: 'either',
    query: { isActive, type, campaignName, page, limit },
  });
}

function readGiftRedeemPage(client: Client, { page, limit }: ListGiftRedeemsParams): Promise<Page<GiftRedeem>> {
  return request<typeof endpoints.listGiftRedeems>(client, {
    route: 'GET /gifts/history/redeems',
    access: 'either',
    query: { page, limit },
  });
}
