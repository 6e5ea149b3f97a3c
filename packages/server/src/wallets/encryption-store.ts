import { type Db, type Sql, sql } from '@svc/store';

/** What a change of encryption brings: undefined leaves what is there, null removes it. */
export interface NewEncryption {
  readonly encryptedPrivateKey: string;
  readonly encryptedPrivateKeyBackup: string | null | undefined;
  readonly authMethod: string | null | undefined;
  readonly credentialId: string | null | undefined;
  readonly prfSupported: boolean | null | undefined;
  readonly deviceType: string | null | undefined;
}

/** In one statement: a ciphertext never stands beside the passkey of another. */
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
