import type { CreatePasskeyParams, Passkey } from './create-passkey.ts';

/** How a wallet's passkey is made; the page's domain and the user's identifier stand in for the names that are left out. */
export type PasskeyOptions = Partial<CreatePasskeyParams>;

/** What the service keeps beside the ciphertext, so that the user finds the passkey again. */
export interface PasskeyDetails {
  readonly authMethod: 'PIN' | 'PASSKEY';
  readonly credentialId?: string;
  readonly prfSupported?: boolean;
  readonly deviceType?: string;
}

export function withDefaults(options: PasskeyOptions, externalUserId: string): CreatePasskeyParams {
  const { location } = globalThis as { location?: { hostname?: string } };
  const rpName = options.rpName ?? location?.hostname ?? 'svc';
  return { ...options, rpName, userName: options.userName ?? externalUserId };
}

export function passkeyDetails({ credentialId, prfSupported, deviceType }: Passkey): PasskeyDetails {
  return { authMethod: 'PASSKEY', credentialId, prfSupported, ...(deviceType !== undefined && { deviceType }) };
}
