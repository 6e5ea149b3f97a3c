import type { AnswerOf, endpoints } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { request } from '../client/request.ts';

export interface RevokeApiKeyParams {
  readonly id: string;
}

export type ApiKeyRevoked = AnswerOf<typeof endpoints.revokeApiKey>;

/**
 * Revokes a key, at once and everywhere. The keys of this client are refused (`key_in_use`): revoke them with others.
 * On a server only: needs the secret key.
 *
 * @example
 * const { id } = await svc.settings.createApiKey({ kind: 'public' });
 * await svc.settings.revokeApiKey({ id });
 */
export function revokeApiKey(client: Client, { id }: RevokeApiKeyParams): Promise<ApiKeyRevoked> {
  return request<typeof endpoints.revokeApiKey>(client, {
    route: 'DELETE /organization/keys/{id}',
    access: 'secret',
    params: { id },
  });
}
