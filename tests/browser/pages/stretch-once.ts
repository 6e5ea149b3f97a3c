import { type IArgon2Options, argon2id as stretch } from 'hash-wasm';

export { createMD5 } from 'hash-wasm';

type Options = IArgon2Options & { readonly outputType: 'binary' };

const known = new Map<string, Promise<Uint8Array>>();

/** The library's Argon2id, once for each secret and salt: a page opens the same wallet again and again. */
export async function argon2id(options: Options): Promise<Uint8Array> {
  const key = JSON.stringify(options, (_, value) => (value instanceof Uint8Array ? [...value] : value));
  const stretched = known.get(key) ?? stretch(options);
  known.set(key, stretched);
  return Uint8Array.from(await stretched);
}
