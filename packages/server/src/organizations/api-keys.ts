import { hash, randomBytes } from 'node:crypto';
import { ApiError, type ApiKey, type Environment } from '@svc/protocol';
import type { Db, Reads } from '@svc/store';
import { recordChange } from '../audit-log.ts';
import type { Caller } from '../http/call.ts';
import { newId } from '../util/ids.ts';
import type { KeyKind } from './organization-store.ts';
import * as store from './organization-store.ts';

/** Enough for several apps and for rotation. */
const MAX_KEYS_IN_USE = 20;

export interface CreatedKey extends ApiKey {
  /** Shown once; null for a public key. */
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
  db: Reads,
  owner: store.Owner,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ keys: ApiKey[]; total: number }> {
  const { rows, total } = await store.listKeysOf(db, owner, page);
  return { keys: rows.map(toApiKey), total };
}

/** A request cannot revoke its own key, so one is always left. */
export async function revokeApiKey(tx: Db, caller: Caller, id: string): Promise<void> {
  if (keysOf(caller).includes(id)) throw new ApiError('key_in_use');
  await lockKeys(tx, caller);
  const row = await store.findKey(tx, id);
  const isOurs = row?.organization_id === caller.organizationId && row.environment === caller.environment;
  if (!row || !isOurs || !(await store.revokeKey(tx, id))) throw new ApiError('key_not_found');
  await record(tx, caller, 'key.revoked', row);
}

/** Serialises key changes of an environment and rechecks the caller's keys: two keys cannot revoke each other, and a revoked key makes no new one. */
async function lockKeys(tx: Db, caller: Caller): Promise<void> {
  await store.lockEnvironment(tx, caller);
  const ids = keysOf(caller);
  if ((await store.countInUse(tx, ids)) !== ids.length) throw new ApiError('invalid_api_key');
}

/** None of a member, who makes new ones where all are revoked. */
function keysOf({ keyId, secretKeyId, member }: Caller): string[] {
  if (member) return [];
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

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
/** 214 bits, so a plain SHA-256 is enough. */
const SECRET_CHARACTERS = 36;
const KEY_PATTERN = /^(pk|sk)_(dev|prod)_[A-Za-z0-9]{32,128}$/;

const kindPrefix: Record<KeyKind, string> = { public: 'pk', secret: 'sk' };
const environmentPrefix: Record<Environment, string> = { development: 'dev', production: 'prod' };

export function keyPrefix(kind: KeyKind, environment: Environment): string {
  return `${kindPrefix[kind]}_${environmentPrefix[environment]}_`;
}

export function generateKey(kind: KeyKind, environment: Environment): string {
  return keyPrefix(kind, environment) + randomText(SECRET_CHARACTERS);
}

/** Other texts never reach the database. */
export function looksLikeKey(text: string, kind: KeyKind): boolean {
  return KEY_PATTERN.test(text) && text.startsWith(kindPrefix[kind]);
}

export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'base64');
}

/** Rejects bytes above the largest multiple of 62, so that all characters are equally likely. */
function randomText(length: number): string {
  const limit = 256 - (256 % ALPHABET.length);
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < limit && text.length < length) text += ALPHABET.charAt(byte % ALPHABET.length);
    }
  }
  return text;
}

export async function createOrganization(db: Db, name: string): Promise<string> {
  const id = newId('org');
  await store.insertOrganization(db, id, name);
  return id;
}

export interface IssuedKey {
  readonly id: string;
  readonly row: store.KeyRow;
  readonly value: string;
}

/** Refuses a value that exists already. */
export async function issueKey(
  db: Db,
  target: { organizationId: string; environment: Environment; kind: KeyKind },
  value: string = generateKey(target.kind, target.environment),
): Promise<IssuedKey> {
  const id = newId('key');
  const stored = await store.insertKey(db, {
    ...target,
    id,
    publicKey: target.kind === 'public' ? value : null,
    secretHash: target.kind === 'secret' ? hashSecret(value) : null,
    prefix: keyPrefix(target.kind, target.environment),
    lastFour: value.slice(-4),
  });
  const row = stored ? await store.findKey(db, id) : undefined;
  if (!row) throw new Error(`This ${target.kind} key exists already.`);
  return { id, row, value };
}
