import { requireBearerToken } from '../client/authentication.ts';
import type { BearerToken, Client } from '../client/client.ts';
import { executeAsOwner, type OwnerParams } from './execute-as-owner.ts';
import { refuseOtherThanSvc, requireSessionClass } from './require-session-wallet.ts';
import { requireTimeAhead } from './require-time-ahead.ts';
import { addSessionKeyCall, readSessionConfig, type SessionConfig } from './session-config.ts';

export interface AddSessionKeyParams extends OwnerParams {
  readonly sessionConfig: SessionConfig;
}

/**
 * Registers a session key with the wallet, or gives a registered one a new time, new calls and a new list. Signed by the owner,
 * without gas. Needs a bearer token. Answers the transaction's hash; the key works once that transaction is accepted.
 *
 * @example
 * const session = await svc.sessions.createSessionKey({ encryptKey });
 * const transactionHash = await svc.sessions.addSessionKeyToContract(
 *   {
 *     encryptKey,
 *     wallet,
 *     sessionConfig: {
 *       sessionPublicKey: session.publicKey,
 *       validUntil: session.validUntil,
 *       maxCalls: 10,
 *       allowedEntrypoints: ['transfer'],
 *     },
 *   },
 *   bearerToken,
 * );
 */
export async function addSessionKeyToContract(
  client: Client,
  { encryptKey, wallet, sessionConfig }: AddSessionKeyParams,
  bearerToken?: BearerToken,
): Promise<string> {
  refuseOtherThanSvc(wallet);
  const ownToken = requireBearerToken(client, bearerToken);
  const session = readSessionConfig(sessionConfig);
  await requireSessionClass(client, wallet);
  await requireTimeAhead(client, session.validUntil);
  const calls = [addSessionKeyCall(wallet.publicKey, session)];
  return executeAsOwner(client, { encryptKey, wallet, calls }, ownToken);
}
