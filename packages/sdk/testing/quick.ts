import fc from 'fast-check';
import { defaultRuntime } from '../src/client/client.ts';
import type { Stretching } from '../src/keys/cipher.ts';
import { type KeyToSeal, sealKey } from '../src/keys/seal.ts';

/** The least that Argon2id can do, so that a test can do it a thousand times. */
export const TINY: Stretching = { memoryKib: 8, passes: 1, lanes: 1 };

export const quickSeal = (key: KeyToSeal) => sealKey(key, defaultRuntime, TINY);

export const PASSKEY = `prf1.${'Ab_-'.repeat(10)}Abc`;

/** Any text but the empty one, and now and then what a person would choose. */
export const passphrase = fc
  .oneof(fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }), fc.constantFrom('0000', 'contraseña', '🔑🔑', ' '))
  .filter((text) => !text.startsWith('prf1.'));
export const boundTo = fc.bigInt({ min: 1n, max: 2n ** 251n - 257n });
