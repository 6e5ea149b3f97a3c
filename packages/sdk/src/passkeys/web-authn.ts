import { SvcPasskeyError } from '../client/errors.ts';

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
