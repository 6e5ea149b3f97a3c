import { createCipheriv, createHash, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { defaultRuntime } from '../src/client/client.ts';
import type { Stretching } from '../src/keys/cipher.ts';
import { type KeyToSeal, sealKey } from '../src/keys/seal.ts';

/** The minimum of Argon2id, fast enough for a thousand runs. */
export const TINY: Stretching = { memoryKib: 8, passes: 1, lanes: 1 };

export const quickSeal = (key: KeyToSeal) => sealKey(key, defaultRuntime, TINY);

export const PASSKEY = `prf1.${'Ab_-'.repeat(10)}Abc`;

/** Any text but the empty one, sometimes a typical choice. */
export const passphrase = fc
  .oneof(fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }), fc.constantFrom('0000', 'contraseña', '🔑🔑', ' '))
  .filter((text) => !text.startsWith('prf1.'));
export const boundTo = fc.bigInt({ min: 1n, max: 2n ** 251n - 257n });

/** OpenSSL's passphrase format, by Node's OpenSSL. */
export function oldFormat(plaintext: string, passphrase: string, salt = randomBytes(8)): string {
  let derived = Buffer.alloc(0);
  for (let last = derived; derived.length < 48; derived = Buffer.concat([derived, last])) {
    last = createHash('md5').update(last).update(passphrase).update(salt).digest();
  }
  const cipher = createCipheriv('aes-256-cbc', derived.subarray(0, 32), derived.subarray(32, 48));
  return Buffer.concat([Buffer.from('Salted__'), salt, cipher.update(plaintext), cipher.final()]).toString('base64');
}
