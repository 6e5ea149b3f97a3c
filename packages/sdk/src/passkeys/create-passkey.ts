import { defaultRuntime, type Runtime } from '../client/runtime.ts';
import { toBase64url } from '../keys/base64url.ts';
import { prfEncryptKey, prfExtension, prfUnsupported } from './prf.ts';
import { unlockWithPasskey } from './unlock-with-passkey.ts';
import { ask, type Credentials, findCredentials } from './web-authn.ts';

export interface CreatePasskeyParams {
  /** The name of your app, as the browser shows it. */
  readonly rpName: string;
  /** The domain that the passkey is for: the page's or one above it. Default: the page's. It cannot be changed later. */
  readonly rpId?: string | undefined;
  /** How the user tells this passkey from others. */
  readonly userName: string;
  /**
   * At most 64 bytes. Default: random, so that every passkey stands by itself. An authenticator REPLACES the passkey that it has for the
   * same domain and userId, and with it goes the secret of whatever wallet that one opens.
   */
  readonly userId?: Uint8Array<ArrayBuffer> | undefined;
  /** Default: `navigator.credentials`. */
  readonly credentials?: Credentials | undefined;
}

export interface Passkey {
  /** Public: it names the passkey and opens nothing. */
  readonly credentialId: string;
  /** Secret: opens what is encrypted with it. */
  readonly encryptKey: string;
  readonly prfSupported: true;
  /** `platform` for this device's own, `cross-platform` for a security key or a phone, where the browser tells. */
  readonly deviceType: string | undefined;
}

const RANDOM_BYTES = 32;
/** ES256, EdDSA, RS256: what authenticators sign with. The signatures are not used. */
const ALGORITHMS = [-7, -8, -257];

/**
 * Makes a passkey that can derive an encryption key. Throws `passkey_prf_unsupported` when the authenticator cannot: the passkey that
 * it made is then useless and can be deleted.
 *
 * @example
 * const { credentialId, encryptKey } = await createPasskey({ rpName: 'My app', userName: 'ana@example.com' });
 */
export async function createPasskey(params: CreatePasskeyParams, runtime: Runtime = defaultRuntime): Promise<Passkey> {
  const { given, ...made } = await makePasskey(params, runtime);
  // Many authenticators evaluate only when asked for a signature, so the user confirms a second time.
  return { ...made, encryptKey: given ?? (await unlockMade(made, params, runtime)) };
}

/**
 * Makes a passkey and has it used once, as it will be used from then on: the user confirms twice. For what opens with nothing else, since
 * a passkey that then gives another secret would be a wallet lost.
 */
export async function createProvenPasskey(params: CreatePasskeyParams, runtime: Runtime): Promise<Passkey> {
  const { given, ...made } = await makePasskey(params, runtime);
  const encryptKey = await unlockMade(made, params, runtime);
  if (given !== undefined && given !== encryptKey) throw prfUnsupported();
  return { ...made, encryptKey };
}

const unlockMade = (
  { credentialId }: Pick<Passkey, 'credentialId'>,
  { rpId, credentials }: CreatePasskeyParams,
  runtime: Runtime,
) => unlockWithPasskey({ credentialId, rpId, credentials }, runtime);

/** `given` is the key of an authenticator that evaluates at once. */
async function makePasskey(
  params: CreatePasskeyParams,
  runtime: Runtime,
): Promise<Omit<Passkey, 'encryptKey'> & { readonly given: string | undefined }> {
  const credentials = findCredentials(params.credentials);
  const credential = await ask(() => credentials.create({ publicKey: creationOptions(params, runtime) }));
  const credentialId = toBase64url(new Uint8Array(credential.rawId));
  const { prf } = credential.getClientExtensionResults();
  const given = prfEncryptKey(credential);
  if (given === undefined && prf?.enabled !== true) throw prfUnsupported();
  return { credentialId, given, prfSupported: true, deviceType: credential.authenticatorAttachment ?? undefined };
}

function creationOptions({ rpName, rpId, userName, userId }: CreatePasskeyParams, runtime: Runtime) {
  return {
    rp: { name: rpName, ...(rpId !== undefined && { id: rpId }) },
    user: { id: userId ?? runtime.randomBytes(RANDOM_BYTES), name: userName, displayName: userName },
    challenge: runtime.randomBytes(RANDOM_BYTES),
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key' as const, alg })),
    authenticatorSelection: { residentKey: 'required' as const, userVerification: 'required' as const },
    attestation: 'none' as const,
    extensions: prfExtension(),
  };
}
