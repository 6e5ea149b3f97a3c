import { ApiError, type ApiKey } from '@svc/protocol';
import type { Db } from '@svc/store';
import { recordChange } from '../audit/record-change.ts';
import type { Caller } from '../http/caller.ts';
import type { KeyKind } from './keys.ts';
import { issueKey } from './service.ts';
import * as store from './store.ts';

/** Enough for every place that has a key of its own, and for the days in which old and new ones overlap. */
const MAX_KEYS_IN_USE = 20;

export interface CreatedKey extends ApiKey {
  /** Of a secret key the whole key, which is never seen again; null of a public one, whose `key` is whole. */
  readonly secretKey: string | null;
}

export async function createApiKey(tx: Db, caller: Caller, kind: KeyKind): Promise<CreatedKey> {
  await lockKeys(tx, caller);
  if ((await store.countKeysInUse(tx, caller, kind)) >= MAX_KEYS_IN_USE) {
    throw new ApiError(
      'key_limit_reached',
      `There are ${MAX_KEYS_IN_USE} ${kind} keys in use. Revoke one that is not needed.`,
    );
  }
  const { organizationId, environment } = caller;
  const { row, value } = await issueKey(tx, { organizationId, environment, kind });
  await record(tx, caller, 'key.created', row);
  return { ...toApiKey(row), secretKey: kind === 'secret' ? value : null };
}

export async function listApiKeys(
  db: Db,
  owner: store.Owner,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ keys: ApiKey[]; total: number }> {
  const { rows, total } = await store.listKeysOf(db, owner, page);
  return { keys: rows.map(toApiKey), total };
}

/** Revokes a key of the caller's environment, except those that the request itself was made with: there is always one left. */
export async function revokeApiKey(tx: Db, caller: Caller, id: string): Promise<void> {
  if (keysOf(caller).includes(id)) throw new ApiError('key_in_use');
  await lockKeys(tx, caller);
  const row = await store.findKey(tx, id);
  const isOurs = row?.organization_id === caller.organizationId && row.environment === caller.environment;
  if (!row || !isOurs || !(await store.revokeKey(tx, id))) throw new ApiError('key_not_found');
  await record(tx, caller, 'key.revoked', row);
}

/**
 * Whoever makes or revokes keys of an environment takes turns, and has keys in use when the turn comes: two keys cannot revoke each
 * other, and a key that is being revoked makes no new one in its last moment.
 */
async function lockKeys(tx: Db, caller: Caller): Promise<void> {
  await store.lockEnvironment(tx, caller);
  const ids = keysOf(caller);
  if ((await store.countInUse(tx, ids)) !== ids.length) throw new ApiError('invalid_api_key');
}

function keysOf({ keyId, secretKeyId }: Caller): string[] {
  return [...new Set([keyId, secretKeyId].filter((id) => id !== undefined))];
}

async function record(tx: Db, caller: Caller, action: string, row: store.KeyRow): Promise<void> {
  const { kind, key } = toApiKey(row);
  await recordChange(tx, caller, { action, target: row.id, changes: { kind, key } });
}

export function toApiKey(row: store.KeyRow): ApiKey {
  return {
    id: row.id,
    kind: row.kind,
    key: row.public_key ?? `${row.prefix}…${row.last_four}`,
    createdAt: row.created_at.toISOString(),
    revokedAt: row.revoked_at?.toISOString() ?? null,
  };
}
