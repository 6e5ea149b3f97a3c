import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto';
import { isObject } from '@svc/protocol';

/** The settings that a keystore can hold. */
export const keystoreNames = ['RELAYER_ACCOUNTS', 'MANAGER_ACCOUNT', 'DRAINING_ACCOUNTS', 'DEPOSIT_KEY'] as const;
export type KeystoreSecrets = Readonly<Partial<Record<(typeof keystoreNames)[number], string>>>;

/** 128 MB and about half a second for each guess. */
const KDF = { name: 'scrypt', cost: 2 ** 17, blockSize: 8, parallelism: 1 } as const;
const MAX_MEMORY = 256 * 1024 * 1024;
const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const SALT_BYTES = 16;
const IV_BYTES = 12;
const TAG_BYTES = 16;
/** A passphrase of a person needs about this many characters against offline guesses. */
export const MIN_PASSPHRASE = 12;

/** Bytes are base64url. */
interface Keystore {
  readonly version: 1;
  readonly kdf: typeof KDF & { readonly salt: string };
  readonly cipher: typeof CIPHER;
  readonly iv: string;
  readonly tag: string;
  readonly content: string;
}

export class KeystoreError extends Error {
  override readonly name = 'KeystoreError';
}

/** A new salt each time. What the file says about itself is authenticated with its content. */
export function sealKeystore(secrets: KeystoreSecrets, passphrase: string): string {
  if (passphrase.length < MIN_PASSPHRASE) {
    throw new KeystoreError(`The passphrase must have ${MIN_PASSPHRASE} characters or more.`);
  }
  const [salt, iv] = [randomBytes(SALT_BYTES), randomBytes(IV_BYTES)];
  const cipher = createCipheriv(CIPHER, keyOf(passphrase, salt), iv, { authTagLength: TAG_BYTES });
  cipher.setAAD(headerOf(salt));
  const content = Buffer.concat([cipher.update(JSON.stringify(secrets), 'utf8'), cipher.final()]);
  const keystore: Keystore = {
    version: 1,
    kdf: { ...KDF, salt: salt.toString('base64url') },
    cipher: CIPHER,
    iv: iv.toString('base64url'),
    tag: cipher.getAuthTag().toString('base64url'),
    content: content.toString('base64url'),
  };
  return `${JSON.stringify(keystore, undefined, 2)}\n`;
}

export function openKeystore(sealed: string, passphrase: string): KeystoreSecrets {
  const { salt, iv, tag, content } = read(sealed);
  const cipher = createDecipheriv(CIPHER, keyOf(passphrase, salt), iv, { authTagLength: TAG_BYTES });
  cipher.setAAD(headerOf(salt));
  cipher.setAuthTag(tag);
  try {
    const opened = Buffer.concat([cipher.update(content), cipher.final()]);
    return secretsIn(JSON.parse(opened.toString('utf8')));
  } catch {
    throw new KeystoreError('the passphrase is wrong, or the file was changed');
  }
}

function secretsIn(content: unknown): KeystoreSecrets {
  const fields: Readonly<Record<string, unknown>> = isObject(content) ? content : {};
  return Object.fromEntries(
    keystoreNames.flatMap((name) => {
      const value = fields[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );
}

function parse(sealed: string): Readonly<Record<string, unknown>> {
  try {
    const file: unknown = JSON.parse(sealed);
    return isObject(file) ? file : {};
  } catch {
    throw new KeystoreError('it is not valid JSON');
  }
}

function read(sealed: string): Record<'salt' | 'iv' | 'tag' | 'content', Buffer> {
  const file = parse(sealed);
  const { salt, ...kdf }: Readonly<Record<string, unknown>> = isObject(file.kdf) ? file.kdf : {};
  const isKnown = file.version === 1 && file.cipher === CIPHER && sorted(kdf) === sorted(KDF);
  if (!isKnown) throw new KeystoreError('it is no keystore of this version');
  const bytes = (text: unknown) => Buffer.from(typeof text === 'string' ? text : '', 'base64url');
  const found = { salt: bytes(salt), iv: bytes(file.iv), tag: bytes(file.tag), content: bytes(file.content) };
  const isWhole = found.salt.length === SALT_BYTES && found.iv.length === IV_BYTES && found.tag.length === TAG_BYTES;
  if (!isWhole) throw new KeystoreError('it is not whole');
  return found;
}

const sorted = (fields: object): string => JSON.stringify(Object.entries(fields).sort());

const headerOf = (salt: Buffer): Buffer =>
  Buffer.from(JSON.stringify([1, KDF.name, KDF.cost, KDF.blockSize, KDF.parallelism, salt.toString('hex'), CIPHER]));

/** Different spellings of one letter are one passphrase. */
function keyOf(passphrase: string, salt: Buffer): Buffer {
  const options = { N: KDF.cost, r: KDF.blockSize, p: KDF.parallelism, maxmem: MAX_MEMORY };
  return scryptSync(passphrase.normalize('NFC'), salt, KEY_BYTES, options);
}
