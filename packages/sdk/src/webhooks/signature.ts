import { readBase64 } from '../client/read-base64.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** A sender signs with its old and its new secret while it changes them; many more signatures are an attempt to keep us busy. */
const MAX_SIGNATURES = 16;
const ALGORITHM = { name: 'HMAC', hash: 'SHA-256' };

/** Whether one of the signatures was made with one of the keys. WebCrypto compares in constant time. */
export async function isSigned(
  message: Bytes,
  signatures: readonly string[],
  secrets: readonly Bytes[],
): Promise<boolean> {
  const candidates = signatures.slice(0, MAX_SIGNATURES).flatMap((text) => readSignature(text) ?? []);
  let matches = false;
  for (const secret of secrets) {
    const key = await crypto.subtle.importKey('raw', secret, ALGORITHM, false, ['verify']);
    for (const candidate of candidates) {
      if (await crypto.subtle.verify(ALGORITHM, key, candidate, message)) matches = true;
    }
  }
  return matches;
}

/** `v1,` and base64. Signatures of other versions stand beside it for receivers that know them. */
function readSignature(text: string): Bytes | undefined {
  return text.startsWith('v1,') ? readBase64(text.slice('v1,'.length)) : undefined;
}
