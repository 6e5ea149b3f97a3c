import type {
  AnswerOf,
  BodyOf,
  Environment,
  endpoints,
  OperatorOrganization,
  OperatorOrganizationDetail,
  Sponsorship,
} from '@svc/protocol';
import type { Client } from './client/client.ts';
import {
  type CursorList,
  type CursorPage,
  type CursorParams,
  eachByCursor,
  type PageOptions,
  toCursorList,
} from './client/pages.ts';
import { request } from './client/request.ts';

const access = 'operator';

export interface OrganizationFilters {
  /** Part of the name, the id, or a member's e-mail address. */
  readonly search?: string | undefined;
}

/**
 * Reads a part of the organisations, newest first. `organizations` iterates over all.
 *
 * @example
 * const { items, nextCursor } = await operator.listOrganizations({ search: 'tienda' });
 */
export async function listOrganizations(
  client: Client,
  params: OrganizationFilters & CursorParams = {},
): Promise<CursorList<OperatorOrganization>> {
  return toCursorList(await readOrganizations(client, params));
}

/**
 * Iterates over all organisations, newest first.
 *
 * @example
 * for await (const { name, members } of operator.organizations()) console.log(name, members);
 */
export function organizations(
  client: Client,
  params: OrganizationFilters & PageOptions = {},
): AsyncGenerator<OperatorOrganization, void, undefined> {
  return eachByCursor((query) => readOrganizations(client, { ...params, ...query }), params);
}

function readOrganizations(
  client: Client,
  { search, limit, cursor }: OrganizationFilters & CursorParams,
): Promise<CursorPage<OperatorOrganization>> {
  return request<typeof endpoints.listOperatorOrganizations>(client, {
    route: 'GET /operator/organizations',
    access,
    query: { search, limit, cursor },
  });
}

export interface CreateOrganizationParams {
  readonly name: string;
  /** Is invited as the first owner. */
  readonly ownerEmail?: string | undefined;
}

/**
 * Creates an organisation, and invites its first owner. `invitationUrl` is the link to hand over where the deployment
 * sends no mail.
 *
 * @example
 * const { id, invitationUrl } = await operator.createOrganization({ name: 'Tienda Azul' });
 */
export function createOrganization(
  client: Client,
  { name, ownerEmail }: CreateOrganizationParams,
): Promise<OperatorOrganizationDetail> {
  return request<typeof endpoints.createOperatorOrganization>(client, {
    route: 'POST /operator/organizations',
    access,
    body: { name, ownerEmail },
  });
}

export interface OrganizationParams {
  readonly id: string;
}

/**
 * Reads an organisation with its keys and members.
 *
 * @example
 * const { id } = await operator.createOrganization({ name: 'Tienda Roja' });
 * const { keys, people } = await operator.getOrganization({ id });
 */
export function getOrganization(client: Client, { id }: OrganizationParams): Promise<OperatorOrganizationDetail> {
  return request<typeof endpoints.getOperatorOrganization>(client, {
    route: 'GET /operator/organizations/{id}',
    access,
    params: { id },
  });
}

export interface EnvironmentParams extends OrganizationParams {
  readonly environment: Environment;
}

/**
 * Makes a public and a secret key of an organisation. `secretKey` is null if the first answer was lost and the request
 * repeated.
 *
 * @example
 * const { id } = await operator.createOrganization({ name: 'Tienda Verde' });
 * const { publicKey, secretKey } = await operator.createKeys({ id, environment: 'development' });
 */
export function createKeys(
  client: Client,
  { id, environment }: EnvironmentParams,
): Promise<AnswerOf<typeof endpoints.createOperatorKeys>> {
  return request<typeof endpoints.createOperatorKeys>(client, {
    route: 'POST /operator/organizations/{id}/{environment}/keys',
    access,
    params: { id, environment },
  });
}

export interface RevokeKeyParams extends OrganizationParams {
  readonly keyId: string;
}

export type Done = AnswerOf<typeof endpoints.revokeOperatorKey>;

/**
 * Revokes a key of an organisation, at once and everywhere.
 *
 * @example
 * const { id } = await operator.createOrganization({ name: 'Tienda Gris' });
 * await operator.createKeys({ id, environment: 'development' });
 * const { keys } = await operator.getOrganization({ id });
 * await operator.revokeKey({ id, keyId: keys[0].id });
 */
export function revokeKey(client: Client, { id, keyId }: RevokeKeyParams): Promise<Done> {
  return request<typeof endpoints.revokeOperatorKey>(client, {
    route: 'DELETE /operator/organizations/{id}/keys/{keyId}',
    access,
    params: { id, keyId },
  });
}

/**
 * Reads the limits of sponsored gas of an organisation.
 *
 * @example
 * const { id } = await operator.createOrganization({ name: 'Tienda Blanca' });
 * const { maxDailyStrk } = await operator.getSponsorship({ id, environment: 'production' });
 */
export function getSponsorship(client: Client, { id, environment }: EnvironmentParams): Promise<Sponsorship> {
  return request<typeof endpoints.getOperatorSponsorship>(client, {
    route: 'GET /operator/organizations/{id}/{environment}/sponsorship',
    access,
    params: { id, environment },
  });
}

type SponsorshipChanges = BodyOf<typeof endpoints.updateOperatorSponsorship>;

/**
 * Changes the limits of sponsored gas of an organisation; null restores the default.
 *
 * @example
 * const { id } = await operator.createOrganization({ name: 'Tienda Negra' });
 * await operator.updateSponsorship({ id, environment: 'production', maxDailyStrk: '2000' });
 */
export function updateSponsorship(
  client: Client,
  { id, environment, ...changes }: EnvironmentParams & SponsorshipChanges,
): Promise<Sponsorship> {
  return request<typeof endpoints.updateOperatorSponsorship>(client, {
    route: 'PATCH /operator/organizations/{id}/{environment}/sponsorship',
    access,
    params: { id, environment },
    body: changes,
  });
}
