import { encodeSessionKey } from '@svc/starknet';
import { requireBearerToken } from '../client/authentication.ts';
import type { BearerToken, Client } from '../client/client.ts';
import { executeAsOwner, type OwnerParams } from './execute-as-owner.ts';
import { readSessionKey } from './read-session-key.ts';
import { refuseOtherThanSvc, requireSessionClass } from './require-session-wallet.ts';

export interface RevokeSessionKeyParams extends OwnerParams {
  readonly sessionPublicKey: string;
}

/**
 * Takes a session key back before its time. Signed by the owner, without gas. Needs a bearer token. Once the transaction is accepted
 * the key signs nothing more; to revoke a key that is not registered changes nothing.
 *
 * @example
 * const transactionHash = await svc.sessions.revokeSessionKey(
 *   { encryptKey, wallet, sessionPublicKey: session.publicKey },
 *   bearerToken,
 * );
 */
export async function revokeSessionKey(
  client: Client,
  { encryptKey, wallet, sessionPublicKey }: RevokeSessionKeyParams,
  bearerToken?: BearerToken,
): Promise<string> {
  refuseOtherThanSvc(wallet);
  const ownToken = requireBearerToken(client, bearerToken);
  const calldata = encodeSessionKey(readSessionKey(sessionPublicKey));
  await requireSessionClass(client, wallet);
  const calls = [{ contractAddress: wallet.publicKey, entrypoint: 'revoke_session_key', calldata }];
  return executeAsOwner(client, { encryptKey, wallet, calls }, ownToken);
}
