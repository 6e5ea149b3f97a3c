import crypto from 'node:crypto';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import type * as library from 'hash-wasm';

type Options = library.IArgon2Options & { readonly outputType: 'binary' };

// Not an import: in tests that use this file it has the place of the package.
const real = createRequire(import.meta.url)('hash-wasm') as typeof library;
const known = new Map<string, Promise<Uint8Array>>();

export const { createMD5 } = real;

/** The library's Argon2id, once for each secret and salt: tests open the same wallets again and again. */
export async function argon2id(options: Options): Promise<Uint8Array> {
  const key = JSON.stringify(options, (_, value) => (value instanceof Uint8Array ? [...value] : value));
  const stretched = known.get(key) ?? stretch(options);
  known.set(key, stretched);
  return Uint8Array.from(await stretched);
}

/** By Node where it can, which takes two thirds of the time, unless a project of tests is to run the library's WebAssembly. */
async function stretch(options: Options): Promise<Uint8Array> {
  if (!crypto.argon2 || process.env.SVC_TEST_STRETCHING === 'wasm') return real.argon2id(options);
  const { password, salt, memorySize: memory, iterations: passes, parallelism, hashLength: tagLength } = options;
  const [message, nonce] = [Buffer.from(password as Uint8Array), Buffer.from(salt as Uint8Array)];
  return promisify(crypto.argon2)('argon2id', { message, nonce, memory, passes, parallelism, tagLength });
}
