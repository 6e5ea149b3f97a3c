import type { AnswerOf, endpoints } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { request } from '../client/request.ts';

export interface CreateApiKeyParams {
  readonly kind: 'public' | 'secret';
}

/** `secretKey` is the whole key, in this one answer. It is null of a public key, whose `key` is whole. */
export type CreatedApiKey = AnswerOf<typeof endpoints.createApiKey>;

/**
 * Makes a key for your environment. To rotate one: make a new one, use it everywhere, then revoke the old one. Should
 * the answer get lost on the
 * way, `secretKey` of a secret key is null: revoke it and make another. On a server only: needs the secret key.
 *
 * @example
 * const { id, secretKey } = await svc.settings.createApiKey({ kind: 'secret' });
 */
export function createApiKey(client: Client, { kind }: CreateApiKeyParams): Promise<CreatedApiKey> {
  return request<typeof endpoints.createApiKey>(client, {
    route: 'POST /organization/keys',
    access: 'secret',
    body: { kind },
  });
}
