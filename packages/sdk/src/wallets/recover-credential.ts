import type { AnswerOf, endpoints } from '@svc/protocol';
import type { BearerToken, Client } from '../client/client.ts';
import { request } from '../client/request.ts';

export interface RecoverCredentialParams {
  readonly externalUserId: string;
}

/** What is known of the passkey that opens a user's wallet; each `null` where the wallet has none. */
export type RecoveredCredential = AnswerOf<typeof endpoints.recoverCredential>;

/**
 * Reads which passkey opens a user's newest wallet, for a device that does not remember it. It opens nothing by itself.
 *
 * @example
 * const { credentialId } = await svc.recoverCredential({ externalUserId: 'ana' });
 */
export function recoverCredential(
  client: Client,
  { externalUserId }: RecoverCredentialParams,
  bearerToken?: BearerToken,
): Promise<RecoveredCredential> {
  return request<typeof endpoints.recoverCredential>(client, {
    route: 'GET /svc-wallets/credential-recovery',
    access: 'both',
    query: { externalUserId },
    bearerToken,
  });
}
