import { ApiError, type BodyOf, type endpoints, type StarknetAddress } from '@svc/protocol';
import { type Database, type Db, type Sql, sql } from '@svc/store';
import type { Caller } from '../http/call.ts';
import { readAddress } from '../http/validation.ts';
import * as store from './wallet.ts';
import { mayActFor } from './wallet.ts';

type Body = BodyOf<typeof endpoints.updateEncryptionDetails>;

export async function updateEncryption(db: Database, caller: Caller, body: Body): Promise<{ success: true }> {
  const address = body.publicKey === undefined ? undefined : readAddress(body.publicKey, 'body.publicKey');
  if (!mayActFor(caller, body.externalUserId)) throw new ApiError('other_user');
  const user = { ...caller, externalUserId: body.externalUserId };
  const id = await walletOf(db, user, address);
  await setEncryption(db, id, {
    encryptedPrivateKey: body.newEncryptedPrivateKey,
    encryptedPrivateKeyBackup: body.newEncryptedPrivateKeyBackup,
    authMethod: body.authMethod,
    credentialId: body.credentialId,
    prfSupported: body.prfSupported,
    deviceType: body.deviceType,
  });
  return { success: true };
}

async function walletOf({ reads }: Database, user: store.User, address: StarknetAddress | undefined): Promise<string> {
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

/** undefined keeps the stored value, null removes it. */
export interface NewEncryption {
  readonly encryptedPrivateKey: string;
  readonly encryptedPrivateKeyBackup: string | null | undefined;
  readonly authMethod: string | null | undefined;
  readonly credentialId: string | null | undefined;
  readonly prfSupported: boolean | null | undefined;
  readonly deviceType: string | null | undefined;
}

/** One statement, so that ciphertext and passkey always match. */
export async function setEncryption(db: Db, id: string, encryption: NewEncryption): Promise<void> {
  await db.run(sql`
    update wallets
    set encrypted_private_key = ${encryption.encryptedPrivateKey},
        encrypted_private_key_backup = ${given(encryption.encryptedPrivateKeyBackup, sql`encrypted_private_key_backup`)},
        auth_method = ${given(encryption.authMethod, sql`auth_method`)},
        credential_id = ${given(encryption.credentialId, sql`credential_id`)},
        prf_supported = ${given(encryption.prfSupported, sql`prf_supported`)},
        device_type = ${given(encryption.deviceType, sql`device_type`)},
        updated_at = now()
    where id = ${id}`);
}

const given = <T>(value: T | undefined, column: Sql) => (value === undefined ? column : value);
