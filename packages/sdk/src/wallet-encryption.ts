import type { AnswerOf, endpoints, ReplacedEncryption } from '@svc/protocol';
import type { Client } from './client/client.ts';
import { request } from './client/request.ts';

export interface EncryptionHistoryParams {
  readonly externalUserId: string;
  /** The wallet's address. Required when the user has several wallets. */
  readonly publicKey?: string | undefined;
}

/** The wallet's address, and its replaced encryptions, newest first. */
export type EncryptionHistory = AnswerOf<typeof endpoints.listEncryptionHistory>;

/**
 * Reads the encrypted private keys of a wallet that were replaced in the last 7 days, with what opened them. Server
 * only: needs the secret key.
 *
 * @example
 * const { data } = await svc.getEncryptionHistory({ externalUserId, publicKey: wallet.publicKey });
 * for (const { id, replacedAt, replacedBy } of data) console.log(id, replacedAt, replacedBy);
 */
export function getEncryptionHistory(
  client: Client,
  { externalUserId, publicKey }: EncryptionHistoryParams,
): Promise<EncryptionHistory> {
  return request<typeof endpoints.listEncryptionHistory>(client, {
    route: 'GET /svc-wallets/encryption-history',
    access: 'secret',
    query: { externalUserId, publicKey },
  });
}

export interface RestoreEncryptionParams extends EncryptionHistoryParams {
  /** Of an entry of `getEncryptionHistory`. */
  readonly id: ReplacedEncryption['id'];
}

export type EncryptionRestored = AnswerOf<typeof endpoints.restoreEncryption>;

/**
 * Restores a replaced encrypted private key: the wallet opens again with the PIN, passphrase or passkey of then. The
 * one that it replaces is kept for 7 days, too. Server only: needs the secret key.
 *
 * @example
 * await svc.changeEncryptKey({ externalUserId, wallet, encryptKey, newEncryptKey: 'forgotten at once' });
 * const { data } = await svc.getEncryptionHistory({ externalUserId, publicKey: wallet.publicKey });
 * await svc.restoreEncryption({ externalUserId, publicKey: wallet.publicKey, id: data[0].id });
 */
export function restoreEncryption(
  client: Client,
  { externalUserId, publicKey, id }: RestoreEncryptionParams,
): Promise<EncryptionRestored> {
  return request<typeof endpoints.restoreEncryption>(client, {
    route: 'POST /svc-wallets/restore-encryption',
    access: 'secret',
    body: { externalUserId, publicKey, id },
  });
}

/** How many encryptions were deleted. */
export type EncryptionHistoryPurged = AnswerOf<typeof endpoints.purgeEncryptionHistory>;

/**
 * Deletes the replaced encrypted private keys of a wallet at once, for example after a PIN became known to others.
 * They cannot be restored any more. Server only: needs the secret key.
 *
 * @example
 * const { deleted } = await svc.purgeEncryptionHistory({ externalUserId, publicKey: wallet.publicKey });
 */
export function purgeEncryptionHistory(
  client: Client,
  { externalUserId, publicKey }: EncryptionHistoryParams,
): Promise<EncryptionHistoryPurged> {
  return request<typeof endpoints.purgeEncryptionHistory>(client, {
    route: 'DELETE /svc-wallets/encryption-history',
    access: 'secret',
    query: { externalUserId, publicKey },
  });
}
