import type { NewPasskeyOptions, PasskeyOptions as SignInOptions } from '@svc/protocol';
import { type Client, defaultRuntime, type Runtime } from '../client/client.ts';
import { SvcConnectionError, SvcInputError } from '../client/errors.ts';
import { fromBase64url, toBase64url } from '../client/values.ts';
import { isPasskeyKey, readEncryptKey } from '../keys/cipher.ts';
import { requireStrongEncryptKey } from '../keys/secrets.ts';
import {
  ask,
  type Credential,
  type Credentials,
  findCredentials,
  prfEncryptKey,
  prfExtension,
  prfUnsupported,
} from './web-authn.ts';

export interface CreatePasskeyParams {
  /** Your app's name, shown by the browser. */
  readonly rpName: string;
  /** The domain of the passkey: the page's or a parent of it. Default: the page's. It cannot be changed later. */
  readonly rpId?: string | undefined;
  /** Shown to the user to tell passkeys apart. */
  readonly userName: string;
  /**
   * At most 64 bytes. Default: random. An authenticator REPLACES an existing passkey of the same domain and userId,
   * and the secret of the wallet that it opened is lost.
   */
  readonly userId?: Uint8Array<ArrayBuffer> | undefined;
  /** Default: `navigator.credentials`. */
  readonly credentials?: Credentials | undefined;
}

export interface Passkey {
  /** Public: identifies the passkey and opens nothing. */
  readonly credentialId: string;
  /** Secret: opens the wallet. */
  readonly encryptKey: string;
  readonly prfSupported: true;
  /**
   * `platform` for this device, `cross-platform` for a security key or a phone; undefined if the browser does not
   * report it.
   */
  readonly deviceType: string | undefined;
}

const RANDOM_BYTES = 32;
/** ES256, EdDSA, RS256. The signatures are not used. */
const ALGORITHMS = [-7, -8, -257];

/**
 * Creates a passkey that can derive an encryption key. Throws `passkey_prf_unsupported` if the authenticator cannot;
 * the created passkey is then useless and can be deleted.
 *
 * @example
 * const { credentialId, encryptKey } = await createPasskey({ rpName: 'My app', userName: 'ana@example.com' });
 */
export async function createPasskey(params: CreatePasskeyParams, runtime: Runtime = defaultRuntime): Promise<Passkey> {
  const { given, ...passkey } = await makePasskey(params, runtime);
  // Many authenticators evaluate the PRF only in an assertion, so the user confirms twice.
  return { ...passkey, encryptKey: given ?? (await unlockNew(passkey, params, runtime)) };
}

/**
 * Creates a passkey and uses it once, so the user confirms twice. For wallets without a backup: a passkey with an
 * unstable secret would lose the wallet.
 */
export async function createProvenPasskey(params: CreatePasskeyParams, runtime: Runtime): Promise<Passkey> {
  const { given, ...passkey } = await makePasskey(params, runtime);
  const encryptKey = await unlockNew(passkey, params, runtime);
  if (given !== undefined && given !== encryptKey) throw prfUnsupported();
  return { ...passkey, encryptKey };
}

const unlockNew = (
  { credentialId }: Pick<Passkey, 'credentialId'>,
  { rpId, credentials }: CreatePasskeyParams,
  runtime: Runtime,
) => unlockWithPasskey({ credentialId, rpId, credentials }, runtime);

/** `given`: the key, if the authenticator evaluated the PRF at creation. */
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
  /** Default: the browser offers its passkeys of the domain. */
  readonly credentialId?: string | undefined;
  /** The domain of the passkey. Default: the page's. */
  readonly rpId?: string | undefined;
  /** Default: `navigator.credentials`. */
  readonly credentials?: Credentials | undefined;
}

const CHALLENGE_BYTES = 32;

/**
 * Has the user confirm with a passkey and returns its `encryptKey`. Do not store it.
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
    // Its signature is not checked: the passkey is proven by opening the key.
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

/** Options of a wallet's passkey. Default names: the page's domain and the user's id. */
export type PasskeyOptions = Partial<CreatePasskeyParams>;

/** Stored beside the ciphertext, so that the passkey can be found again. */
interface PasskeyDetails {
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

interface NewWalletSecretsParams {
  readonly encryptKey: string;
  readonly usePasskey?: boolean | undefined;
  readonly externalUserId: string;
  readonly passkey?: PasskeyOptions | undefined;
}

interface NewWalletSecrets {
  /** The passkey's secret first, then the backup. */
  readonly encryptKeys: string[];
  readonly details: PasskeyDetails;
}

/** The encryptKeys of a new wallet. `usePasskey` creates a passkey; `encryptKey` is then the backup. */
export async function newWalletSecrets(
  client: Client,
  { encryptKey, usePasskey = false, externalUserId, passkey = {} }: NewWalletSecretsParams,
): Promise<NewWalletSecrets> {
  // Before the user is prompted.
  readEncryptKey(encryptKey);
  if (!usePasskey && isPasskeyKey(encryptKey)) {
    const message = 'encryptKey is the secret of a passkey, which could not be found again: use usePasskey.';
    throw new SvcInputError('invalid_input', message);
  }
  await requireStrongEncryptKey(client, encryptKey);
  if (!usePasskey) return { encryptKeys: [encryptKey], details: { authMethod: 'PIN' } };
  const created = await createPasskey(withDefaults(passkey, externalUserId), client.runtime);
  return { encryptKeys: [created.encryptKey, encryptKey], details: passkeyDetails(created) };
}

/** What WebAuthn answered, for the service. The results of extensions are left out: they open the key. */
type WebAuthnAnswer = Readonly<Record<string, unknown>>;

interface SignInPasskey extends Passkey {
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

interface PasskeyAssertion {
  readonly credentialId: string;
  readonly encryptKey: string;
  readonly assertion: WebAuthnAnswer;
}

/** One confirmation signs in and opens the key. */
export async function assertPasskey(
  options: SignInOptions,
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
