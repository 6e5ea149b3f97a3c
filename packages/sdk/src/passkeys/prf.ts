import { SvcPasskeyError } from '../client/errors.ts';
import { PASSKEY_SECRET_BYTES, passkeyEncryptKey } from '../keys/encrypt-key.ts';
import type { Credential } from './web-authn.ts';

/**
 * What the authenticator's secret function (PRF) is evaluated at: the UTF-8 bytes of this text, for every passkey of every app. Another
 * text would give another secret, so it never changes.
 */
const PRF_INPUT = 'svc wallet encryption key 1';

export const prfExtension = () => ({ prf: { eval: { first: new TextEncoder().encode(PRF_INPUT) } } });

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
