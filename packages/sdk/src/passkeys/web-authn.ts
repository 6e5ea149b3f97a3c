import { SvcPasskeyError } from '../client/errors.ts';
import { PASSKEY_SECRET_BYTES, passkeyEncryptKey } from '../keys/cipher.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** The parts of WebAuthn that passkeys need, as browsers have them. */
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

/** What `create` and `get` answer. */
export interface Credential {
  readonly rawId: ArrayBuffer;
  readonly authenticatorAttachment?: string | null;
  getClientExtensionResults(): { readonly prf?: PrfOutput };
}

export interface PrfOutput {
  readonly enabled?: boolean;
  readonly results?: { readonly first?: ArrayBuffer | Uint8Array };
}

/** The browser's own, unless a test brings another. */
export function findCredentials(given?: Credentials): Credentials {
  const { navigator } = globalThis as unknown as { navigator?: { credentials?: Credentials } };
  const credentials = given ?? navigator?.credentials;
  if (credentials) return credentials;
  throw new SvcPasskeyError('passkey_unavailable', 'There are no passkeys here: they need a browser and https.');
}

/** Asks the authenticator, and answers its errors in the library's words. */
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

/** Browsers do not tell a refusal from a passkey that is not there: both are NotAllowedError. */
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
 * What the authenticator's secret function (PRF) is evaluated at: the UTF-8 bytes of this text, for every passkey of every app. Another
 * text would give another secret, so it never changes.
 */
const PRF_INPUT = 'svc wallet encryption key 1';

export const prfExtension = (): PrfInput => ({ prf: { eval: { first: new TextEncoder().encode(PRF_INPUT) } } });

/** The encryptKey that the authenticator gave, or undefined when it gave none. */
export function prfEncryptKey(credential: Credential): string | undefined {
  const first = credential.getClientExtensionResults().prf?.results?.first;
  if (first === undefined) return undefined;
  const secret = new Uint8Array(first);
  if (secret.length !== PASSKEY_SECRET_BYTES) throw prfUnsupported();
  return passkeyEncryptKey(secret);
}

/** There is no second way: whatever else a passkey tells is public, and no key may come from that. */
export const prfUnsupported = () =>
  new SvcPasskeyError(
    'passkey_prf_unsupported',
    'This authenticator cannot derive keys (WebAuthn PRF). Use another one, or a passphrase. Nothing was encrypted.',
  );
