import type {
  AnswerOf,
  ApiKey,
  AuditEntry,
  Branding,
  CheckedToken,
  endpoints,
  Settings,
  Sponsorship,
} from '@svc/protocol';
import type { Client } from './client/client.ts';
import { SvcInputError } from './client/errors.ts';
import { eachItem, type List, type Page, type PageOptions, toList } from './client/pages.ts';
import { request } from './client/request.ts';

/**
 * Reads the settings of your environment. Server only: needs the secret key.
 *
 * @example
 * const { notificationEmail, jwksUrl } = await svc.settings.getSettings();
 */
export function getSettings(client: Client): Promise<Settings> {
  return request<typeof endpoints.getSettings>(client, { route: 'GET /organization/settings', access: 'secret' });
}

export interface UpdateSettingsParams {
  /** Gets a mail when a purchase ends. null: no mails. */
  readonly notificationEmail?: string | null | undefined;
  /** Key set of your users' tokens: a public https URL, or `sandbox` in development. */
  readonly jwksUrl?: string | null | undefined;
  /** Required `iss`. null: any. */
  readonly jwtIssuer?: string | null | undefined;
  /** Required in `aud`. null: any. */
  readonly jwtAudience?: string | null | undefined;
  /** The claim that holds the `externalUserId`. Initially `sub`. */
  readonly jwtUserClaim?: string | undefined;
  /** Whether managing gifts requires the secret key. */
  readonly giftsNeedSecretKey?: boolean | undefined;
  /** What gifts created with the public key alone may pay out per UTC day. null: no limit. */
  readonly publicKeyGiftsDailyUsd?: number | null | undefined;
  /** Whether the claim page makes wallets for recipients who have none. */
  readonly recipientWallets?: boolean | undefined;
  /** Your own app, where recipients without a wallet are sent instead. null: none. */
  readonly recipientAppUrl?: string | null | undefined;
}

/**
 * Changes settings of your environment, all of them or none, and returns the result. Omitted fields stay. Server
 * only: needs the secret key.
 *
 * @example
 * await svc.settings.updateSettings({ notificationEmail: 'avisos@tienda.example' });
 */
export async function updateSettings(client: Client, params: UpdateSettingsParams): Promise<Settings> {
  const { notificationEmail, jwksUrl, jwtIssuer, jwtAudience, jwtUserClaim } = params;
  const { giftsNeedSecretKey, publicKeyGiftsDailyUsd, recipientWallets, recipientAppUrl } = params;
  const identity = { jwksUrl, jwtIssuer, jwtAudience, jwtUserClaim };
  const gifts = { giftsNeedSecretKey, publicKeyGiftsDailyUsd, recipientWallets, recipientAppUrl };
  const body = { notificationEmail, ...identity, ...gifts };
  if (Object.values(body).every((value) => value === undefined)) {
    throw new SvcInputError('invalid_input', 'Pass a setting: nothing would change.');
  }
  return await request<typeof endpoints.updateSettings>(client, {
    route: 'PATCH /organization/settings',
    access: 'secret',
    body,
  });
}

export interface CheckTokenParams {
  /** Of a user, as your app would send it. */
  readonly token: string;
}

/**
 * Checks a user's token with your settings, step by step: says at which step it would be refused, and why. The token is
 * not stored. Server only: needs the secret key.
 *
 * @example
 * const { valid, steps } = await svc.settings.checkToken({ token: bearerToken });
 * if (!valid) console.log(steps.find(({ result }) => result === 'failed')?.detail);
 */
export function checkToken(client: Client, { token }: CheckTokenParams): Promise<CheckedToken> {
  return request<typeof endpoints.checkToken>(client, {
    route: 'POST /organization/settings/check-token',
    access: 'secret',
    body: { token },
  });
}

/**
 * Reads how your environment shows itself on the claim page and in mails. Server only: needs the secret key.
 *
 * @example
 * const { name, logoUrl, color } = await svc.settings.getBranding();
 */
export function getBranding(client: Client): Promise<Branding> {
  return request<typeof endpoints.getBranding>(client, { route: 'GET /organization/branding', access: 'secret' });
}

export interface UpdateBrandingParams {
  /** Shown in place of the organisation's name. */
  readonly name?: string | null | undefined;
  /** Such as `#0b5a9d`. Text colours are chosen so that they can be read. */
  readonly color?: string | null | undefined;
  /** Base64 of a PNG, JPEG or WebP image of at most 128 KiB. */
  readonly logo?: string | null | undefined;
}

/**
 * Changes name, logo or colour on the claim page and in mails of your environment. Omitted fields stay, null clears
 * one. Server only: needs the secret key.
 *
 * @example
 * await svc.settings.updateBranding({ name: 'Tienda Azul', color: '#0b5a9d' });
 */
export async function updateBranding(client: Client, params: UpdateBrandingParams): Promise<Branding> {
  const { name, color, logo } = params;
  if (name === undefined && color === undefined && logo === undefined) {
    throw new SvcInputError('invalid_input', 'Pass name, color or logo: nothing would change.');
  }
  return await request<typeof endpoints.updateBranding>(client, {
    route: 'PATCH /organization/branding',
    access: 'secret',
    body: { name, color, logo },
  });
}

export interface GetSponsorshipParams {
  /** Shows the use of this user as `user`. */
  readonly externalUserId?: string | undefined;
}

/**
 * Reads the limits of sponsored gas and what is used of them today. Server only: needs the secret key.
 *
 * @example
 * const { dailyStrk, used } = await svc.settings.getSponsorship();
 */
export function getSponsorship(client: Client, { externalUserId }: GetSponsorshipParams = {}): Promise<Sponsorship> {
  return request<typeof endpoints.getSponsorship>(client, {
    route: 'GET /organization/sponsorship',
    access: 'secret',
    query: { externalUserId },
  });
}

export interface UpdateSponsorshipParams {
  /** Gas of this environment in a day, such as `'100'`, at most `maxDailyStrk`. null: as much as that. */
  readonly dailyStrk?: string | null | undefined;
  /** Gas of one user in a day. null: the deployment's default. */
  readonly userDailyStrk?: string | null | undefined;
  /** Sponsored transactions of one user in a day, wallets included. null: the deployment's default. */
  readonly userDailyTransactions?: number | null | undefined;
  /** Wallets that one user may create in a day. null: the deployment's default. */
  readonly userDailyWallets?: number | null | undefined;
  /** Contracts that sponsored calls may go to, besides the user's own wallet. null: all. */
  readonly allowedContracts?: readonly string[] | null | undefined;
  /** Functions that sponsored calls may name, by name or selector. null: all. */
  readonly allowedEntrypoints?: readonly string[] | null | undefined;
}

/**
 * Changes limits of sponsored gas, all of them or none, and returns the result. Omitted fields stay. Server only:
 * needs the secret key.
 *
 * @example
 * await svc.settings.updateSponsorship({ userDailyTransactions: 500, userDailyStrk: '50' });
 */
export async function updateSponsorship(client: Client, params: UpdateSponsorshipParams): Promise<Sponsorship> {
  const { dailyStrk, userDailyStrk, userDailyTransactions, userDailyWallets } = params;
  const { allowedContracts, allowedEntrypoints } = params;
  const body = {
    ...{ dailyStrk, userDailyStrk, userDailyTransactions, userDailyWallets },
    allowedContracts: allowedContracts && [...allowedContracts],
    allowedEntrypoints: allowedEntrypoints && [...allowedEntrypoints],
  };
  if (Object.values(body).every((value) => value === undefined)) {
    throw new SvcInputError('invalid_input', 'Pass a limit: nothing would change.');
  }
  return await request<typeof endpoints.updateSponsorship>(client, {
    route: 'PATCH /organization/sponsorship',
    access: 'secret',
    body,
  });
}

export interface ListApiKeysParams {
  /** From 1 on. Default: 1. */
  readonly page?: number | undefined;
  /** Items on a page, at most 100. Default: 10. */
  readonly limit?: number | undefined;
}

/**
 * Reads one page of the API keys of your environment, newest first. Secret keys are masked. `apiKeys` iterates over
 * all pages. Server only: needs the secret key.
 *
 * @example
 * const { items } = await svc.settings.listApiKeys({ limit: 50 });
 */
export async function listApiKeys(client: Client, params: ListApiKeysParams = {}): Promise<List<ApiKey>> {
  return toList(await readApiKeyPage(client, params));
}

/**
 * Iterates over the API keys of your environment, newest first. Secret keys are masked. Server only: needs the secret
 * key.
 *
 * @example
 * for await (const { kind, key, revokedAt } of svc.settings.apiKeys()) console.log(kind, key, revokedAt);
 */
export function apiKeys(client: Client, params: PageOptions = {}): AsyncGenerator<ApiKey, void, undefined> {
  return eachItem((query) => readApiKeyPage(client, query), params);
}

export interface CreateApiKeyParams {
  readonly kind: 'public' | 'secret';
}

/** `secretKey` is the whole secret key; only this answer has it. null for a public key, whose `key` is whole. */
export type CreatedApiKey = AnswerOf<typeof endpoints.createApiKey>;

/**
 * Creates an API key for your environment. To rotate: create a new key, deploy it, then revoke the old one.
 * `secretKey` of a secret key is null if the first answer was lost and the request repeated: revoke that key and
 * create another. Server only: needs the secret key.
 *
 * @example
 * const { id, secretKey } = await svc.settings.createApiKey({ kind: 'secret' });
 */
export function createApiKey(client: Client, { kind }: CreateApiKeyParams): Promise<CreatedApiKey> {
  return request<typeof endpoints.createApiKey>(client, {
    route: 'POST /organization/keys',
    access: 'secret',
    body: { kind },
  });
}

export interface RevokeApiKeyParams {
  readonly id: string;
}

export type ApiKeyRevoked = AnswerOf<typeof endpoints.revokeApiKey>;

/**
 * Revokes an API key at once. The keys of this client are refused (`key_in_use`): revoke them with another key.
 * Server only: needs the secret key.
 *
 * @example
 * const { id } = await svc.settings.createApiKey({ kind: 'public' });
 * await svc.settings.revokeApiKey({ id });
 */
export function revokeApiKey(client: Client, { id }: RevokeApiKeyParams): Promise<ApiKeyRevoked> {
  return request<typeof endpoints.revokeApiKey>(client, {
    route: 'DELETE /organization/keys/{id}',
    access: 'secret',
    params: { id },
  });
}

export interface ListAuditLogParams {
  /** From 1 on. Default: 1. */
  readonly page?: number | undefined;
  /** Items on a page, at most 100. Default: 10. */
  readonly limit?: number | undefined;
}

/**
 * Reads one page of the audit log: changes made with your keys or by the operator, newest first. `auditLog` iterates
 * over all pages. Server only: needs the secret key.
 *
 * @example
 * const { items } = await svc.settings.listAuditLog({ limit: 50 });
 */
export async function listAuditLog(client: Client, params: ListAuditLogParams = {}): Promise<List<AuditEntry>> {
  return toList(await readAuditPage(client, params));
}

/**
 * Iterates over the audit log: changes made with your keys or by the operator, newest first. Server only: needs the
 * secret key.
 *
 * @example
 * for await (const { action, actor, createdAt } of svc.settings.auditLog()) console.log(createdAt, action, actor);
 */
export function auditLog(client: Client, params: PageOptions = {}): AsyncGenerator<AuditEntry, void, undefined> {
  return eachItem((query) => readAuditPage(client, query), params);
}

function readApiKeyPage(client: Client, params: ListApiKeysParams): Promise<Page<ApiKey>> {
  const { page, limit } = params;
  return request<typeof endpoints.listApiKeys>(client, {
    route: 'GET /organization/keys',
    access: 'secret',
    query: { page, limit },
  });
}

function readAuditPage(client: Client, params: ListAuditLogParams): Promise<Page<AuditEntry>> {
  const { page, limit } = params;
  return request<typeof endpoints.listAuditLog>(client, {
    route: 'GET /organization/audit-log',
    access: 'secret',
    query: { page, limit },
  });
}
