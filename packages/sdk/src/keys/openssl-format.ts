import { createMD5 } from 'hash-wasm';
import { SvcKeyError } from '../client/errors.ts';
import { readBase64 } from '../client/read-base64.ts';
import { isPrivateKey } from './private-key.ts';
import { type Bytes, subtle } from './web-crypto.ts';

const MAGIC = 'Salted__';
/** How that begins in base64. */
const PREFIX = 'U2FsdGVkX1';
const SALT_BYTES = 8;
const BLOCK_BYTES = 16;
const KEY_BYTES = 32;
/** A key in hex takes five blocks at most; this leaves room for line breaks. */
const MAX_LENGTH = 512;

export const isOpensslFormat = (text: string) => text.startsWith(PREFIX);

/**
 * Reads a private key, in hex, from OpenSSL's passphrase format (AES-256-CBC, key and start by one round of MD5). It proves nothing
 * about what comes out, so the caller must hold the key against the wallet's address. Never written.
 */
export async function openOpensslFormat(text: string, encryptKey: string): Promise<bigint> {
  const bytes = text.length <= MAX_LENGTH ? readBase64(text.replace(/\s/g, '')) : undefined;
  const ciphertext = bytes?.slice(MAGIC.length + SALT_BYTES);
  if (!bytes || !ciphertext?.length || ciphertext.length % BLOCK_BYTES !== 0) throw failed();
  if (new TextDecoder().decode(bytes.slice(0, MAGIC.length)) !== MAGIC) throw failed();
  const salt = bytes.slice(MAGIC.length, MAGIC.length + SALT_BYTES);
  const derived = await bytesToKey(new TextEncoder().encode(encryptKey), salt);
  const plaintext = await decryptCbc(derived, ciphertext);
  const digits = plaintext && /^\s*(?:0x)?([0-9a-f]{1,64})\s*$/i.exec(new TextDecoder().decode(plaintext))?.[1];
  const privateKey = digits ? BigInt(`0x${digits}`) : 0n;
  if (!isPrivateKey(privateKey)) throw failed();
  return privateKey;
}

/** EVP_BytesToKey: each digest is of the one before, the passphrase and the salt. */
async function bytesToKey(passphrase: Bytes, salt: Bytes): Promise<Bytes> {
  const md5 = await createMD5();
  const derived = new Uint8Array(KEY_BYTES + BLOCK_BYTES);
  let last: Uint8Array = new Uint8Array();
  for (let filled = 0; filled < derived.length; filled += last.length) {
    last = md5.init().update(last).update(passphrase).update(salt).digest('binary');
    derived.set(last, filled);
  }
  return derived;
}

async function decryptCbc(derived: Bytes, ciphertext: Bytes): Promise<ArrayBuffer | undefined> {
  const key = await subtle().importKey('raw', derived.slice(0, KEY_BYTES), 'AES-CBC', false, ['decrypt']);
  try {
    return await subtle().decrypt({ name: 'AES-CBC', iv: derived.slice(KEY_BYTES) }, key, ciphertext);
  } catch {
    return undefined;
  }
}

const failed = () =>
  new SvcKeyError('decryption_failed', 'The private key does not open: wrong encryptKey, or a damaged ciphertext.');
