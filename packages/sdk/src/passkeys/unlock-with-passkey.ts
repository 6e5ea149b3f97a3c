import { SvcInputError } from '../client/errors.ts';
import { defaultRuntime, type Runtime } from '../client/runtime.ts';
import { fromBase64url } from '../keys/base64url.ts';
import { prfEncryptKey, prfExtension, prfUnsupported } from './prf.ts';
import { ask, type Credentials, findCredentials } from './web-authn.ts';

export interface UnlockWithPasskeyParams {
  /** Which passkey. Default: the browser offers those that it has for the domain. */
  readonly credentialId?: string | undefined;
  /** The domain that the passkey was made for. Default: the page's. */
  readonly rpId?: string | undefined;
  /** Default: `navigator.credentials`. */
  readonly credentials?: Credentials | undefined;
}

const CHALLENGE_BYTES = 32;

/**
 * Has the user confirm with a passkey and answers the `encryptKey` that it opens. Keep it no longer than the operation that needs it.
 *
 * @example
 * const encryptKey = await unlockWithPasskey({ credentialId });
 */
export async function unlockWithPasskey(
  { credentialId, rpId, credentials }: UnlockWithPasskeyParams = {},
  runtime: Runtime = defaultRuntime,
): Promise<string> {
  const found = findCredentials(credentials);
  const publicKey = {
    // Nobody checks a signature over it: what proves the passkey is that the key opens.
    challenge: runtime.randomBytes(CHALLENGE_BYTES),
    ...(rpId !== undefined && { rpId }),
    allowCredentials: credentialId === undefined ? [] : [{ type: 'public-key' as const, id: readId(credentialId) }],
    userVerification: 'required' as const,
    extensions: prfExtension(),
  };
  const encryptKey = prfEncryptKey(await ask(() => found.get({ publicKey })));
  if (encryptKey === undefined) throw prfUnsupported();
  return encryptKey;
}

function readId(credentialId: string): Uint8Array<ArrayBuffer> {
  const bytes = fromBase64url(credentialId);
  if (bytes?.length) return bytes;
  throw new SvcInputError('invalid_input', 'credentialId must be base64url, as createPasskey answered it.');
}
