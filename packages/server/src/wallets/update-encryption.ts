import { ApiError, type BodyOf, type endpoints, type StarknetAddress } from '@svc/protocol';
import type { Database } from '@svc/store';
import type { Caller } from '../http/caller.ts';
import { setEncryption } from './encryption-store.ts';
import { readAddress } from './fields.ts';
import { mayBe } from './find-wallet.ts';
import * as store from './store.ts';

type Body = BodyOf<typeof endpoints.updateEncryptionDetails>;

/** Replaces the ciphertext of a wallet's private key, and what the request says of its passkey. What was there before is not kept. */
export async function updateEncryption(db: Database, caller: Caller, body: Body): Promise<{ success: true }> {
  const address = body.publicKey === undefined ? undefined : readAddress(body.publicKey, 'body.publicKey');
  if (!mayBe(caller, body.externalUserId)) throw new ApiError('other_user');
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
    if (wallet && store.isOf(user, wallet)) return wallet.id;
    throw new ApiError('wallet_not_found', 'This user has no wallet with this publicKey.');
  }
  const [wallet, another] = await store.walletsOfUser(reads, user, 2);
  if (!wallet) throw new ApiError('wallet_not_found');
  if (another) throw new ApiError('wallet_ambiguous');
  return wallet.id;
}
