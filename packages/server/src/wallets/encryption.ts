import {
  type AnswerOf,
  ApiError,
  type BodyOf,
  type EncryptionReplacer,
  type endpoints,
  type QueryOf,
  type ReplacedEncryption,
  type StarknetAddress,
} from '@svc/protocol';
import { type Database, type Db, type Reads, sql } from '@svc/store';
import { recordChange } from '../audit-log.ts';
import type { Caller } from '../http/call.ts';
import { readAddress } from '../http/validation.ts';
import { newId } from '../util/ids.ts';
import * as store from './wallet.ts';
import { mayActFor } from './wallet.ts';

const KEPT_DAYS = 7;
const KEPT = sql`replaced_at > now() - make_interval(days => ${KEPT_DAYS})`;
const KEPT_MS = KEPT_DAYS * 86_400_000;

/**
 * Above it a replacement is refused. Dropping the oldest instead would let a stolen token push the owner's ciphertext out; dropping the
 * newest would lose the one in use.
 */
export const MAX_KEPT = 10;
/** Restoring, and creating a failed wallet anew, are not refused. */
const MAX_LISTED = 100;
const DELETED_AT_ONCE = 1_000;

const fields = sql`encrypted_private_key, encrypted_private_key_backup, auth_method, credential_id, prf_supported, device_type`;

/** Ciphertext and passkey belong together: they are stored, kept and restored as one. */
interface Encryption {
  readonly encrypted_private_key: string;
  readonly encrypted_private_key_backup: string | null;
  readonly auth_method: string | null;
  readonly credential_id: string | null;
  readonly prf_supported: boolean | null;
  readonly device_type: string | null;
}

/** The replaced encryption stays in the history. */
export async function updateEncryption(
  db: Database,
  caller: Caller,
  body: BodyOf<typeof endpoints.updateEncryptionDetails>,
): Promise<{ success: true }> {
  const id = await walletOf(db.reads, caller, body, 'body');
  await db.tx(async (tx) => {
    const current = await lockEncryption(tx, id);
    const next: Encryption = {
      encrypted_private_key: body.newEncryptedPrivateKey,
      encrypted_private_key_backup: given(body.newEncryptedPrivateKeyBackup, current.encrypted_private_key_backup),
      auth_method: given(body.authMethod, current.auth_method),
      credential_id: given(body.credentialId, current.credential_id),
      prf_supported: given(body.prfSupported, current.prf_supported),
      device_type: given(body.deviceType, current.device_type),
    };
    if (isSame(current, next)) return;
    if ((await countKept(tx, id)) >= MAX_KEPT) throw new ApiError('encryption_history_full');
    await replace(tx, caller, id, next);
    await recordEncryption(tx, caller, 'wallet.encryption-replaced', id, body.externalUserId);
  });
  return { success: true };
}

/** undefined keeps the stored value, null removes it. */
const given = <T>(value: T | null | undefined, stored: T | null) => (value === undefined ? stored : value);

const isSame = (one: Encryption, other: Encryption) =>
  (Object.keys(one) as (keyof Encryption)[]).every((field) => one[field] === other[field]);

export async function encryptionHistory(
  reads: Reads,
  caller: Caller,
  query: QueryOf<typeof endpoints.listEncryptionHistory>,
): Promise<AnswerOf<typeof endpoints.listEncryptionHistory>> {
  const id = await walletOf(reads, caller, query, 'query');
  const wallet = await reads.one<{ public_key: string }>(sql`select public_key from wallets where id = ${id}`);
  const rows = await reads.rows<ReplacedRow>(sql`
    select id, ${fields}, replaced_by, replaced_at from replaced_encryptions
     where wallet_id = ${id} and ${KEPT} order by replaced_at desc, id desc limit ${MAX_LISTED}`);
  return { publicKey: wallet?.public_key ?? '', data: rows.map(toReplaced) };
}

/** Restoring the one in use changes nothing, so a repeated request is harmless. */
export async function restoreEncryption(
  { reads }: Pick<Database, 'reads'>,
  tx: Db,
  caller: Caller,
  body: BodyOf<typeof endpoints.restoreEncryption>,
): Promise<{ success: true }> {
  const id = await walletOf(reads, caller, body, 'body');
  const current = await lockEncryption(tx, id);
  const kept = await tx.one<Encryption>(sql`
    select ${fields} from replaced_encryptions where id = ${body.id} and wallet_id = ${id} and ${KEPT}`);
  if (!kept) throw new ApiError('encryption_not_found');
  if (isSame(current, kept)) return { success: true };
  await replace(tx, caller, id, kept);
  await recordEncryption(tx, caller, 'wallet.encryption-restored', id, body.externalUserId, { restored: body.id });
  return { success: true };
}

export async function purgeEncryptionHistory(
  db: Database,
  caller: Caller,
  query: QueryOf<typeof endpoints.purgeEncryptionHistory>,
): Promise<AnswerOf<typeof endpoints.purgeEncryptionHistory>> {
  const id = await walletOf(db.reads, caller, query, 'query');
  return db.tx(async (tx) => {
    const deleted = await tx.run(sql`delete from replaced_encryptions where wallet_id = ${id}`);
    await recordEncryption(tx, caller, 'wallet.encryption-history-purged', id, query.externalUserId, { deleted });
    return { success: true, deleted };
  });
}

/** Bounded batches, so that a backlog holds no lock for long. */
export async function deleteExpiredEncryptions(db: Db, signal: AbortSignal): Promise<void> {
  let deleted = DELETED_AT_ONCE;
  while (deleted === DELETED_AT_ONCE && !signal.aborted) {
    deleted = await db.run(sql`
      delete from replaced_encryptions where id in (
        select id from replaced_encryptions where not (${KEPT}) order by replaced_at limit ${DELETED_AT_ONCE})`);
  }
}

/** Before the wallet is created anew after a failed deployment. */
export async function keepFailedEncryption(
  tx: Db,
  wallet: store.User & { readonly address: StarknetAddress },
  proof: Caller['proof'],
): Promise<void> {
  const failed = await tx.one<{ id: string }>(sql`
    select id from wallets
     where environment = ${wallet.environment} and address = ${wallet.address}
       and organization_id = ${wallet.organizationId} and external_user_id = ${wallet.externalUserId}
       and deployment = 'FAILED' for update`);
  if (failed) await keepCurrent(tx, failed.id, proof);
}

async function walletOf(
  reads: Reads,
  caller: Caller,
  { externalUserId, publicKey }: { externalUserId: string; publicKey?: string },
  part: 'query' | 'body',
): Promise<string> {
  const address = publicKey === undefined ? undefined : readAddress(publicKey, `${part}.publicKey`);
  if (!mayActFor(caller, externalUserId)) throw new ApiError('other_user');
  const user = { ...caller, externalUserId };
  if (address !== undefined) {
    const wallet = await store.walletAt(reads, user.environment, address);
    if (wallet && store.isOwnedBy(user, wallet)) return wallet.id;
    throw new ApiError('wallet_not_found', 'This user has no wallet with this publicKey.');
  }
  const [wallet, another] = await store.walletsOfUser(reads, user, 2);
  if (!wallet) throw new ApiError('wallet_not_found');
  if (another) throw new ApiError('wallet_ambiguous');
  return wallet.id;
}

/** Replacements of one wallet take turns, so that each keeps what it replaces. */
async function lockEncryption(tx: Db, id: string): Promise<Encryption> {
  const row = await tx.one<Encryption>(sql`select ${fields} from wallets where id = ${id} for update`);
  if (!row) throw new ApiError('wallet_not_found');
  return row;
}

async function countKept(tx: Db, id: string): Promise<number> {
  const row = await tx.one<{ kept: number }>(sql`
    select count(*)::integer as kept from replaced_encryptions where wallet_id = ${id} and ${KEPT}`);
  return row?.kept ?? 0;
}

async function replace(tx: Db, caller: Caller, id: string, next: Encryption): Promise<void> {
  await keepCurrent(tx, id, caller.proof);
  await tx.run(sql`
    update wallets
    set encrypted_private_key = ${next.encrypted_private_key},
        encrypted_private_key_backup = ${next.encrypted_private_key_backup}, auth_method = ${next.auth_method},
        credential_id = ${next.credential_id}, prf_supported = ${next.prf_supported}, device_type = ${next.device_type},
        updated_at = now()
    where id = ${id}`);
}

async function keepCurrent(tx: Db, id: string, proof: Caller['proof']): Promise<void> {
  await tx.run(sql`
    insert into replaced_encryptions (id, wallet_id, ${fields}, replaced_by)
    select ${newId('enc')}, id, ${fields}, ${replacerOf(proof)} from wallets where id = ${id}`);
}

const replacerOf = (proof: Caller['proof']): EncryptionReplacer => (proof === 'user token' ? proof : 'secret key');

function recordEncryption(
  tx: Db,
  caller: Caller,
  action: string,
  id: string,
  externalUserId: string,
  changes: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  return recordChange(tx, caller, {
    action,
    target: id,
    changes: { externalUserId, by: replacerOf(caller.proof), ...changes },
  });
}

interface ReplacedRow extends Encryption {
  readonly id: string;
  readonly replaced_by: EncryptionReplacer;
  readonly replaced_at: Date;
}

function toReplaced(row: ReplacedRow): ReplacedEncryption {
  return {
    id: row.id,
    encryptedPrivateKey: row.encrypted_private_key,
    encryptedPrivateKeyBackup: row.encrypted_private_key_backup,
    authMethod: row.auth_method,
    credentialId: row.credential_id,
    prfSupported: row.prf_supported,
    deviceType: row.device_type,
    replacedAt: row.replaced_at.toISOString(),
    replacedBy: row.replaced_by,
    deletedAt: new Date(row.replaced_at.getTime() + KEPT_MS).toISOString(),
  };
}
