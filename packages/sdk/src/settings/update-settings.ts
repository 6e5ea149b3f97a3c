import type { endpoints, Settings } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { SvcInputError } from '../client/errors.ts';
import { request } from '../client/request.ts';

export interface UpdateSettingsParams {
  /** Hears of purchases that have ended. null: nobody does. */
  readonly notificationEmail?: string | null | undefined;
  /** Where the keys of your users' tokens are: a public https address, or in development `sandbox`. */
  readonly jwksUrl?: string | null | undefined;
  /** What `iss` must be. null: anything. */
  readonly jwtIssuer?: string | null | undefined;
  /** What `aud` must contain. null: anything. */
  readonly jwtAudience?: string | null | undefined;
  /** The claim that is the `externalUserId`. At first: `sub`. */
  readonly jwtUserClaim?: string | undefined;
  /** Whether gifts are managed with the secret key only. */
  readonly giftsNeedSecretKey?: boolean | undefined;
}

/**
 * Changes settings of your environment, all of them or none, and answers what then holds. What is left out stays. On a
 * server only: needs the secret key.
 *
 * @example
 * await svc.settings.updateSettings({ notificationEmail: 'avisos@tienda.example' });
 */
export async function updateSettings(client: Client, params: UpdateSettingsParams): Promise<Settings> {
  const { notificationEmail, jwksUrl, jwtIssuer, jwtAudience, jwtUserClaim, giftsNeedSecretKey } = params;
  const body = { notificationEmail, jwksUrl, jwtIssuer, jwtAudience, jwtUserClaim, giftsNeedSecretKey };
  if (Object.values(body).every((value) => value === undefined)) {
    throw new SvcInputError('invalid_input', 'Pass a setting: nothing would change.');
  }
  return await request<typeof endpoints.updateSettings>(client, {
    route: 'PATCH /organization/settings',
    access: 'secret',
    body,
  });
}
