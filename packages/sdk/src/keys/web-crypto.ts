import { SvcKeyError } from '../client/errors.ts';
import type { Runtime } from '../client/runtime.ts';

export type Bytes = Uint8Array<ArrayBuffer>;

/** As AES-GCM wants it. */
const NONCE_BYTES = 12;

/** Browsers have it on https pages and on this machine only. */
export function subtle(): typeof crypto.subtle {
  const found = globalThis.crypto?.subtle;
  if (found !== undefined) return found;
  throw new SvcKeyError('crypto_unavailable', 'WebCrypto is missing: in a browser the page must come by https.');
}

/** AES-256-GCM under a random nonce, which stands before the ciphertext. `bound` must be the same again to open it. */
export async function encrypt(key: Bytes, plaintext: Bytes, bound: string, runtime: Runtime): Promise<Bytes> {
  const nonce = runtime.randomBytes(NONCE_BYTES);
  const ciphertext = await subtle().encrypt(algorithm(nonce, bound), await importKey(key, 'encrypt'), plaintext);
  const sealed = new Uint8Array(NONCE_BYTES + ciphertext.byteLength);
  sealed.set(nonce);
  sealed.set(new Uint8Array(ciphertext), NONCE_BYTES);
  return sealed;
}

/** Undefined when it is another key, another `bound`, or not what was written. */
export async function decrypt(key: Bytes, sealed: Bytes, bound: string): Promise<Bytes | undefined> {
  const aes = await importKey(key, 'decrypt');
  const [nonce, ciphertext] = [sealed.slice(0, NONCE_BYTES), sealed.slice(NONCE_BYTES)];
  try {
    return new Uint8Array(await subtle().decrypt(algorithm(nonce, bound), aes, ciphertext));
  } catch {
    return undefined;
  }
}

const algorithm = (iv: Bytes, bound: string) => ({
  name: 'AES-GCM',
  iv,
  additionalData: new TextEncoder().encode(bound),
});

const importKey = (key: Bytes, use: 'encrypt' | 'decrypt') => subtle().importKey('raw', key, 'AES-GCM', false, [use]);
