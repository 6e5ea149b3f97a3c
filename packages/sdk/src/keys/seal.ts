import { hex64 } from '@svc/protocol';
import { accountAddress, starkKey, UNREPAIRED_SVC_CLASS, walletClasses } from '@svc/starknet';
import { createMD5 } from 'hash-wasm';
import { defaultRuntime, type Runtime } from '../client/client.ts';
import { SvcInputError, SvcKeyError } from '../client/errors.ts';
import { readAddress, readBase64 } from '../client/values.ts';
import {
  type Bytes,
  DEFAULT_STRETCHING,
  decrypt,
  encrypt,
  isPrivateKey,
  parseEncryptKey,
  parsePrivateKey,
  privateKeyBytes,
  readEncryptKey,
  type Stretching,
  subtle,
} from './cipher.ts';
import { boundary, type Envelope, formatEnvelope, parseEnvelope, type Slot, unwrap, wrap } from './envelope.ts';

export interface KeyToSeal {
  readonly privateKey: bigint;
  /** The address of the key: the envelope opens for no other. */
  readonly boundTo: bigint;
  /** PINs, passphrases or passkey secrets. Any one of them opens the envelope. */
  readonly encryptKeys: readonly string[];
}

const DATA_KEY_BYTES = 32;

/** Encrypts a private key. The envelope may be stored by the service: it reveals nothing without an encryptKey. */
export async function sealKey(
  { privateKey, boundTo, encryptKeys }: KeyToSeal,
  runtime: Runtime = defaultRuntime,
  stretching: Stretching = DEFAULT_STRETCHING,
): Promise<string> {
  const secrets = encryptKeys.map(readEncryptKey);
  if (secrets.length === 0) throw new SvcKeyError('weak_encrypt_key', 'A private key needs at least one encryptKey.');
  const address = hex64(boundTo);
  const dataKey = runtime.randomBytes(DATA_KEY_BYTES);
  const slots: Slot[] = [];
  // Sequential: each stretching allocates its memory.
  for (const secret of secrets) slots.push(await wrap(dataKey, secret, address, { runtime, stretching }));
  return sealWith(dataKey, slots, { privateKey, address }, runtime);
}

export async function sealWith(
  dataKey: Bytes,
  slots: readonly Slot[],
  { privateKey, address }: { privateKey: bigint; address: string },
  runtime: Runtime,
): Promise<string> {
  if (!isPrivateKey(privateKey)) throw new SvcKeyError('wrong_key', 'This is not a private key of the Stark curve.');
  const sealed = await encrypt(dataKey, privateKeyBytes(privateKey), boundary(slots, address), runtime);
  return formatEnvelope({ slots, sealed });
}

export interface KeyToOpen {
  readonly envelope: string;
  readonly encryptKey: string;
  readonly boundTo: bigint;
}

export interface OpenedEnvelope extends Envelope {
  readonly privateKey: bigint;
  readonly dataKey: Bytes;
  readonly opened: number;
}

/** Decrypts a private key. A wrong encryptKey, another address and an altered envelope give the same error. */
export async function openKey(params: KeyToOpen): Promise<bigint> {
  return (await openEnvelope(params)).privateKey;
}

export async function openEnvelope({ envelope, encryptKey, boundTo }: KeyToOpen): Promise<OpenedEnvelope> {
  const { slots, sealed } = parseEnvelope(envelope);
  const secret = parseEncryptKey(encryptKey);
  const address = hex64(boundTo);
  for (const [opened, slot] of slots.entries()) {
    const dataKey = secret && (await unwrap(slot, secret, address));
    const bytes = dataKey && (await decrypt(dataKey, sealed, boundary(slots, address)));
    const privateKey = bytes && parsePrivateKey(bytes);
    if (dataKey && privateKey !== undefined) return { slots, sealed, privateKey, dataKey, opened };
  }
  throw new SvcKeyError('decryption_failed', 'The private key does not open: wrong encryptKey, or not of this wallet.');
}

/** Opens the envelope with each encryptKey: one that does not open would lose the wallet. */
export async function proveSealed(envelope: string, { privateKey, boundTo, encryptKeys }: KeyToSeal): Promise<void> {
  for (const encryptKey of encryptKeys) {
    if ((await openKey({ envelope, encryptKey, boundTo })) === privateKey) continue;
    throw new SvcKeyError('wrong_key', 'The sealed key did not come out as it went in. Nothing was stored.');
  }
}

export interface VerifyEncryptKeyParams {
  readonly encryptKey: string;
  readonly wallet: { readonly publicKey: string; readonly encryptedPrivateKey: string };
}

/** Decrypts a wallet's private key, also from the old format. The result is the key of this wallet, or an error. */
export async function openWalletKey({ encryptKey, wallet }: VerifyEncryptKeyParams): Promise<bigint> {
  const boundTo = readAddress(wallet.publicKey, 'wallet.publicKey');
  const { encryptedPrivateKey: envelope } = wallet;
  if (typeof envelope !== 'string') {
    throw new SvcInputError(
      'invalid_input',
      'wallet.encryptedPrivateKey is missing: pass the wallet as getWallet gives it.',
    );
  }
  // Authenticated by the encryptKey and the address: no further proof needed.
  if (!isOpensslFormat(envelope)) return openKey({ envelope, encryptKey, boundTo });
  const privateKey = await openOpensslFormat(envelope, encryptKey);
  if (belongsTo(privateKey, boundTo)) return privateKey;
  throw new SvcKeyError('wrong_key', `The decrypted key is not the key of ${wallet.publicKey}, in any known class.`);
}

/**
 * Checks that a PIN, passphrase or passkey secret opens a wallet, before anything else is asked of the user. Needs no
 * client; nothing is sent.
 *
 * @throws SvcKeyError with code `decryption_failed` if it does not
 * @example
 * await verifyEncryptKey({ wallet, encryptKey });
 */
export async function verifyEncryptKey(params: VerifyEncryptKeyParams): Promise<void> {
  await openWalletKey(params);
}

/** Upgrades keep the address, so it derives from the class that the wallet was created with. */
function belongsTo(privateKey: bigint, address: bigint): boolean {
  const publicKey = starkKey(privateKey);
  const classHashes = [...walletClasses.map(({ classHash }) => classHash), UNREPAIRED_SVC_CLASS];
  return classHashes.some((classHash) => accountAddress(classHash, publicKey) === address);
}

const MAGIC = 'Salted__';
const PREFIX = 'U2FsdGVkX1';
const SALT_BYTES = 8;
const BLOCK_BYTES = 16;
const KEY_BYTES = 32;
/** A hex key has at most five blocks; the rest is for line breaks. */
const MAX_LENGTH = 512;

const isOpensslFormat = (text: string) => text.startsWith(PREFIX);

/**
 * Reads a hex private key from OpenSSL's passphrase format (AES-256-CBC, key and IV from one round of MD5). The
 * format is not authenticated: the caller must compare the key with the wallet's address. Read-only format.
 */
async function openOpensslFormat(text: string, encryptKey: string): Promise<bigint> {
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

/** EVP_BytesToKey: each digest covers the previous one, the passphrase and the salt. */
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

export async function sealProven(key: KeyToSeal, runtime: Runtime): Promise<string> {
  const envelope = await sealKey(key, runtime);
  await proveSealed(envelope, key);
  return envelope;
}
