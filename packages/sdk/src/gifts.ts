import {
  type AnswerOf,
  type Campaign,
  type endpoints,
  type Gift,
  type GiftType,
  parseUsd,
  type RedeemEvidence,
  type SharedEvidence,
  usdToNumber,
} from '@svc/protocol';
import type { Client } from './client/client.ts';
import { SvcInputError } from './client/errors.ts';
import {
  type CursorList,
  type CursorPage,
  type CursorParams,
  eachByCursor,
  eachItem,
  type List,
  type Page,
  type PageOptions,
  toCursorList,
  toList,
} from './client/pages.ts';
import { request } from './client/request.ts';

export interface CreateGiftParams {
  /**
   * 4 to 64 letters, digits, `_` and `-`. The code is the only credential: anyone who knows it can redeem it.
   * Default: a random one.
   */
  readonly code?: string | undefined;
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
  /** The id, the beginning of the code or a part of the name. */
  readonly search?: string | undefined;
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
  const { isActive, type, campaignName, search } = params;
  return eachItem((query) => readGiftPage(client, { isActive, type, campaignName, search, ...query }), params);
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

/**
 * Reads a part of your campaigns: the bulk creations by name, the last used first. `campaigns` iterates over all.
 *
 * @example
 * const { items, nextCursor } = await svc.gifts.listCampaigns({ limit: 10 });
 */
export async function listCampaigns(client: Client, params: CursorParams = {}): Promise<CursorList<Campaign>> {
  return toCursorList(await readCampaigns(client, params));
}

/**
 * Iterates over all your campaigns, the last used first.
 *
 * @example
 * for await (const { name, gifts, redeems } of svc.gifts.campaigns()) console.log(name, gifts, redeems);
 */
export function campaigns(client: Client, params: PageOptions = {}): AsyncGenerator<Campaign, void, undefined> {
  return eachByCursor((query) => readCampaigns(client, query), params);
}

export interface RedeemFilters {
  /** Redeems of this gift only. */
  readonly giftId?: string | undefined;
}

export interface ListGiftRedeemsParams extends RedeemFilters {
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
export function giftRedeems(
  client: Client,
  params: RedeemFilters & PageOptions = {},
): AsyncGenerator<GiftRedeem, void, undefined> {
  const { giftId } = params;
  return eachItem((query) => readGiftRedeemPage(client, { giftId, ...query }), params);
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

/**
 * Reads every step of a redeem with its hash and time: on Starknet reserved, sent and paid, on Solana reserved, burned,
 * attested and minted.
 *
 * @example
 * const { status, steps } = await svc.gifts.getRedeemEvidence({ id: redeemId });
 * for (const { name, state, hash, at } of steps) console.log(name, state, hash, at);
 */
export function getRedeemEvidence(client: Client, { id }: GetGiftRedeemParams): Promise<RedeemEvidence> {
  return request<typeof endpoints.getRedeemEvidence>(client, {
    route: 'GET /gifts/history/redeems/{id}/evidence',
    access: 'either',
    params: { id },
  });
}

export interface ShareRedeemEvidenceParams {
  readonly id: string;
  /** 1 to 365. Default: 30. */
  readonly expiresInDays?: number | undefined;
}

export type EvidenceLink = AnswerOf<typeof endpoints.shareRedeemEvidence>;

/**
 * Makes a link to a page that shows the evidence of a redeem to anyone who has the link. Server only: needs the secret key.
 *
 * @example
 * const { url, expiresAt } = await svc.gifts.shareRedeemEvidence({ id: redeemId, expiresInDays: 7 });
 */
export function shareRedeemEvidence(client: Client, params: ShareRedeemEvidenceParams): Promise<EvidenceLink> {
  const { id, expiresInDays } = params;
  return request<typeof endpoints.shareRedeemEvidence>(client, {
    route: 'POST /gifts/history/redeems/{id}/evidence/links',
    access: 'secret',
    params: { id },
    body: { expiresInDays },
  });
}

export type EvidenceLinksRevoked = AnswerOf<typeof endpoints.revokeEvidenceLinks>;

/**
 * Ends all links to the evidence of a redeem at once. Server only: needs the secret key.
 *
 * @example
 * await svc.gifts.shareRedeemEvidence({ id: redeemId });
 * await svc.gifts.revokeEvidenceLinks({ id: redeemId });
 */
export function revokeEvidenceLinks(client: Client, { id }: GetGiftRedeemParams): Promise<EvidenceLinksRevoked> {
  return request<typeof endpoints.revokeEvidenceLinks>(client, {
    route: 'DELETE /gifts/history/redeems/{id}/evidence/links',
    access: 'secret',
    params: { id },
  });
}

export interface GetSharedEvidenceParams {
  /** The last part of the link. */
  readonly token: string;
}

/**
 * Reads the evidence of a redeem by a shared link. Needs no keys.
 *
 * @example
 * const { token } = await svc.gifts.shareRedeemEvidence({ id: redeemId });
 * const { walletAddress, amount, steps } = await svc.gifts.getSharedEvidence({ token });
 */
export function getSharedEvidence(client: Client, { token }: GetSharedEvidenceParams): Promise<SharedEvidence> {
  return request<typeof endpoints.getSharedEvidence>(client, {
    route: 'GET /evidence/{token}',
    access: 'none',
    params: { token },
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
  const { isActive, type, campaignName, search, page, limit } = params;
  return request<typeof endpoints.listGifts>(client, {
    route: 'GET /gifts',
    access: 'either',
    query: { isActive, type, campaignName, search, page, limit },
  });
}

function readGiftRedeemPage(client: Client, params: ListGiftRedeemsParams): Promise<Page<GiftRedeem>> {
  const { giftId, page, limit } = params;
  return request<typeof endpoints.listGiftRedeems>(client, {
    route: 'GET /gifts/history/redeems',
    access: 'either',
    query: { giftId, page, limit },
  });
}

function readCampaigns(client: Client, { limit, cursor }: CursorParams): Promise<CursorPage<Campaign>> {
  return request<typeof endpoints.listCampaigns>(client, {
    route: 'GET /gifts/campaigns',
    access: 'either',
    query: { limit, cursor },
  });
}
