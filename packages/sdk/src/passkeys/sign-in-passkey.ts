import type { NewPasskeyOptions, PasskeyOptions } from '@svc/protocol';
import type { Runtime } from '../client/client.ts';
import { SvcConnectionError } from '../client/errors.ts';
import { fromBase64url, toBase64url } from '../client/values.ts';
import { type Passkey, unlockWithPasskey } from './create-passkey.ts';
import {
  ask,
  type Credential,
  type Credentials,
  findCredentials,
  prfEncryptKey,
  prfExtension,
  prfUnsupported,
} from './web-authn.ts';

/** What WebAuthn answered, for the service. The results of extensions are left out: they open the key. */
export type WebAuthnAnswer = Readonly<Record<string, unknown>>;

export interface SignInPasskey extends Passkey {
  readonly registration: WebAuthnAnswer;
}

/**
 * Creates a passkey that opens a key and signs in, and uses it once: the user confirms twice. A passkey with an unstable secret would
 * lose the wallet.
 */
export async function createSignInPasskey(
  options: NewPasskeyOptions,
  runtime: Runtime,
  given?: Credentials,
): Promise<SignInPasskey> {
  const credentials = findCredentials(given);
  const { challenge, user, excludeCredentials, ...rest } = options;
  const publicKey = {
    ...rest,
    challenge: bytesOf(challenge),
    user: { ...user, id: bytesOf(user.id) },
    excludeCredentials: excludeCredentials.map((known) => ({ ...known, id: bytesOf(known.id) })),
    extensions: prfExtension(),
  };
  const credential = await ask(() => credentials.create({ publicKey }));
  const atCreation = prfEncryptKey(credential);
  if (atCreation === undefined && credential.getClientExtensionResults().prf?.enabled !== true) throw prfUnsupported();
  const credentialId = toBase64url(new Uint8Array(credential.rawId));
  const encryptKey = await unlockWithPasskey({ credentialId, rpId: options.rp.id, credentials: given }, runtime);
  if (atCreation !== undefined && atCreation !== encryptKey) throw prfUnsupported();
  return {
    ...{ credentialId, encryptKey, prfSupported: true },
    deviceType: credential.authenticatorAttachment ?? undefined,
    registration: toAnswer(credential, ['clientDataJSON', 'attestationObject']),
  };
}

export interface PasskeyAssertion {
  readonly credentialId: string;
  readonly encryptKey: string;
  readonly assertion: WebAuthnAnswer;
}

/** One confirmation signs in and opens the key. */
export async function assertPasskey(
  options: PasskeyOptions,
  credentialId: string | undefined,
  given?: Credentials,
): Promise<PasskeyAssertion> {
  const credentials = findCredentials(given);
  const publicKey = {
    ...options,
    challenge: bytesOf(options.challenge),
    allowCredentials: credentialId === undefined ? [] : [{ type: 'public-key' as const, id: bytesOf(credentialId) }],
    extensions: prfExtension(),
  };
  const credential = await ask(() => credentials.get({ publicKey }));
  const encryptKey = prfEncryptKey(credential);
  if (encryptKey === undefined) throw prfUnsupported();
  return {
    encryptKey,
    credentialId: toBase64url(new Uint8Array(credential.rawId)),
    assertion: toAnswer(credential, ['clientDataJSON', 'authenticatorData', 'signature', 'userHandle']),
  };
}

/** By name: a new field of the browser's answer must not reach the service unseen. */
function toAnswer({ rawId, response }: Credential, fields: readonly string[]): WebAuthnAnswer {
  const id = toBase64url(new Uint8Array(rawId));
  const found = fields
    .map((name) => [name, response?.[name]] as const)
    .filter(([, value]) => value instanceof ArrayBuffer);
  const encoded = found.map(([name, value]) => [name, toBase64url(new Uint8Array(value as ArrayBuffer))]);
  const transports = response?.getTransports?.();
  return {
    ...{ id, rawId: id, type: 'public-key', clientExtensionResults: {} },
    response: { ...Object.fromEntries(encoded), ...(transports && { transports }) },
  };
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const bytes = fromBase64url(text);
  if (bytes) return bytes;
  throw new SvcConnectionError('invalid_answer', 'The options of the passkey are not what the interface says.');
}
