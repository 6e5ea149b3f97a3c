import { argon2id } from 'hash-wasm';
import { SvcKeyError } from '../client/errors.ts';
import { type Bytes, subtle } from './web-crypto.ts';

/** What Argon2id costs whoever derives a key, or guesses one. */
export interface Stretching {
  readonly memoryKib: number;
  readonly passes: number;
  readonly lanes: number;
}

/**
 * The second choice of RFC 9106, with one lane since browsers run one: under a second for the owner. A PIN of six digits can
 * still be guessed by whoever has the ciphertext and some days; a long passphrase or a passkey cannot.
 */
export const DEFAULT_STRETCHING: Stretching = { memoryKib: 65_536, passes: 3, lanes: 1 };

const KEY_BYTES = 32;

/** Argon2id, for what a person remembers. */
export async function stretch(secret: Bytes, salt: Bytes, { memoryKib, passes, lanes }: Stretching): Promise<Bytes> {
  try {
    const key = await argon2id({
      password: secret,
      salt,
      memorySize: memoryKib,
      iterations: passes,
      parallelism: lanes,
      hashLength: KEY_BYTES,
      outputType: 'binary',
    });
    return new Uint8Array(key);
  } catch (cause) {
    throw new SvcKeyError(
      'crypto_unavailable',
      `Argon2id could not run here: it needs WebAssembly ('wasm-unsafe-eval' in a page's policy) and ${memoryKib} KiB.`,
      { cause },
    );
  }
}

const INFO = new TextEncoder().encode('svc1 slot');

/** HKDF-SHA-256, for a secret that nobody can guess. */
export async function expand(secret: Bytes, salt: Bytes): Promise<Bytes> {
  const key = await subtle().importKey('raw', secret, 'HKDF', false, ['deriveBits']);
  const algorithm = { name: 'HKDF', hash: 'SHA-256', salt, info: INFO };
  return new Uint8Array(await subtle().deriveBits(algorithm, key, KEY_BYTES * 8));
}
