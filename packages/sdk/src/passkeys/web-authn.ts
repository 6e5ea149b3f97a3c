import { SvcPasskeyError } from '../client/errors.ts';
import { PASSKEY_SECRET_BYTES, passkeyEncryptKey } from '../keys/cipher.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** The part of WebAuthn that passkeys need. */
export interface Credentials {
  create(options: { publicKey: CreationOptions }): Promise<unknown>;
  get(options: { publicKey: RequestOptions }): Promise<unknown>;
}

export interface CreationOptions {
  readonly rp: { readonly name: string; readonly id?: string };
  readonly user: { readonly id: Bytes; readonly name: string; readonly displayName: string };
  readonly challenge: Bytes;
  readonly pubKeyCredParams: readonly { readonly type: 'public-key'; readonly alg: number }[];
  readonly authenticatorSelection: { readonly residentKey: 'required'; readonly userVerification: 'required' };
  readonly attestation: 'none';
  readonly extensions: PrfInput;
}

export interface RequestOptions {
  readonly challenge: Bytes;
  readonly rpId?: string;
  readonly allowCredentials: readonly { readonly type: 'public-key'; readonly id: Bytes }[];
  readonly userVerification: 'required';
  readonly extensions: PrfInput;
}

interface PrfInput {
  readonly prf: { readonly eval: { readonly first: Bytes } };
}

export interface Credential {
  readonly rawId: ArrayBuffer;
  readonly authenticatorAttachment?: string | null;
  readonly response?: CredentialResponse;
  getClientExtensionResults(): { readonly prf?: PrfOutput };
}

/** Bytes by name; a registration also tells how the authenticator is reached. */
export interface CredentialResponse {
  readonly [name: string]: unknown;
  getTransports?(): readonly string[];
}

export interface PrfOutput {
  readonly enabled?: boolean;
  readonly results?: { readonly first?: ArrayBuffer | Uint8Array };
}

export function findCredentials(given?: Credentials): Credentials {
  const { navigator } = globalThis as unknown as { navigator?: { credentials?: Credentials } };
  const credentials = given ?? navigator?.credentials;
  if (credentials) return credentials;
  throw new SvcPasskeyError('passkey_unavailable', 'There are no passkeys here: they need a browser and https.');
}

/** Maps the browser's errors to `SvcPasskeyError`. */
export async function ask(question: () => Promise<unknown>): Promise<Credential> {
  let credential: unknown;
  try {
    credential = await question();
  } catch (cause) {
    throw toError(cause);
  }
  if (isCredential(credential)) return credential;
  throw new SvcPasskeyError('passkey_unavailable', 'The browser answered no passkey.');
}

function isCredential(value: unknown): value is Credential {
  return typeof value === 'object' && value !== null && 'rawId' in value && 'getClientExtensionResults' in value;
}

/** Browsers report a refusal and a missing passkey both as NotAllowedError. */
function toError(cause: unknown): SvcPasskeyError {
  const name = cause instanceof Error ? cause.name : '';
  if (name === 'NotAllowedError' || name === 'AbortError') {
    return new SvcPasskeyError('passkey_cancelled', 'The passkey was not confirmed, or is not on this device.', {
      cause,
    });
  }
  const explanation = name === 'SecurityError' ? ' rpId must be the domain of the page or one above it.' : '';
  return new SvcPasskeyError('passkey_unavailable', `The passkey cannot be used here.${explanation}`, { cause });
}

/**
 * Input of the authenticator's PRF, in UTF-8, for every passkey of every app. Never change it: another text gives
 * another secret.
 */
const PRF_INPUT = 'svc wallet encryption key 1';

export const prfExtension = (): PrfInput => ({ prf: { eval: { first: new TextEncoder().encode(PRF_INPUT) } } });

/** Undefined if the authenticator returned no PRF result. */
export function prfEncryptKey(credential: Credential): string | undefined {
  const first = credential.getClientExtensionResults().prf?.results?.first;
  if (first === undefined) return undefined;
  const secret = new Uint8Array(first);
  if (secret.length !== PASSKEY_SECRET_BYTES) throw prfUnsupported();
  return passkeyEncryptKey(secret);
}

/** No fallback: everything else that a passkey returns is public and must not become a key. */
export const prfUnsupported = () =>
  new SvcPasskeyError(
    'passkey_prf_unsupported',
    'This authenticator cannot derive keys (WebAuthn PRF). Use another one, or a passphrase. Nothing was encrypted.',
  );
