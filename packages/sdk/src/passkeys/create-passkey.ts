import { type Client, defaultRuntime, type Runtime } from '../client/client.ts';
import { SvcInputError } from '../client/errors.ts';
import { fromBase64url, toBase64url } from '../client/values.ts';
import { isPasskeyKey, readEncryptKey } from '../keys/cipher.ts';
import { ask, type Credentials, findCredentials, prfEncryptKey, prfExtension, prfUnsupported } from './web-authn.ts';

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

export interface NewWalletSecretsParams {
  readonly encryptKey: string;
  readonly usePasskey?: boolean | undefined;
  readonly externalUserId: string;
  readonly passkey?: PasskeyOptions | undefined;
}

export interface NewWalletSecrets {
  /** All that open the wallet: the passkey's secret before the one that the user remembers as a backup. */
  readonly encryptKeys: string[];
  readonly details: PasskeyDetails;
}

/** What a new wallet is to be opened with. With `usePasskey` a passkey is made, and `encryptKey` is the way in without it. */
export async function newWalletSecrets(
  { runtime }: Client,
  { encryptKey, usePasskey = false, externalUserId, passkey = {} }: NewWalletSecretsParams,
): Promise<NewWalletSecrets> {
  // Before the user is asked for anything.
  readEncryptKey(encryptKey);
  if (!usePasskey && isPasskeyKey(encryptKey)) {
    const message = 'encryptKey is the secret of a passkey, which nobody would find again: use usePasskey.';
    throw new SvcInputError('invalid_input', message);
  }
  if (!usePasskey) return { encryptKeys: [encryptKey], details: { authMethod: 'PIN' } };
  const made = await createPasskey(withDefaults(passkey, externalUserId), runtime);
  return { encryptKeys: [made.encryptKey, encryptKey], details: passkeyDetails(made) };
}
