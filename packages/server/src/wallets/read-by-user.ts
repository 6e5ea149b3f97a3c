import { type AnswerOf, ApiError, type endpoints } from '@svc/protocol';
import type { Reads } from '@svc/store';
import type { Caller } from '../http/caller.ts';
import { mayBe } from './find-wallet.ts';
import * as store from './store.ts';
import type { WalletRecord } from './wallet.ts';

/** The user's newest wallet. For the token of another user there is none. */
export async function newestWallet(reads: Reads, caller: Caller, externalUserId: string): Promise<WalletRecord> {
  const [wallet] = await store.walletsOfUser(reads, userOf(caller, externalUserId), 1);
  return wallet ?? missing();
}

type Credential = AnswerOf<typeof endpoints.recoverCredential>;

export async function recoverCredential(reads: Reads, caller: Caller, externalUserId: string): Promise<Credential> {
  const row = await store.newestCredential(reads, userOf(caller, externalUserId));
  if (!row) return missing();
  return {
    credentialId: row.credential_id,
    authMethod: row.auth_method,
    prfSupported: row.prf_supported,
    deviceType: row.device_type,
  };
}

function userOf(caller: Caller, externalUserId: string): store.User {
  if (!mayBe(caller, externalUserId)) missing();
  return { ...caller, externalUserId };
}

function missing(): never {
  throw new ApiError('wallet_not_found');
}
