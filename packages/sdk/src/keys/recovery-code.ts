import { defaultRuntime, type Runtime } from '../client/client.ts';
import { SvcInputError } from '../client/errors.ts';
import { toBase64url } from '../client/values.ts';
import { type Bytes, passkeyEncryptKey, subtle } from './cipher.ts';

/** Without I, L, O and U, which people confuse. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** 140 bits: too many to try, so the key needs no stretching. */
const LENGTH = 28;
const GROUP = 4;
const SECRET_BITS = 256;

/**
 * Makes a recovery code to write down: seven groups of four letters and digits.
 *
 * @example
 * const recoveryCode = newRecoveryCode();
 */
export function newRecoveryCode(runtime: Runtime = defaultRuntime): string {
  const letters = Array.from(runtime.randomBytes(LENGTH), (byte) => ALPHABET.charAt(byte & 31)).join('');
  return letters.match(new RegExp(`.{${GROUP}}`, 'g'))?.join('-') ?? letters;
}

export interface RecoverySecrets {
  /** Signs in. Sent to the service, which keeps its hash. */
  readonly recoverySecret: string;
  /** Opens the key. Never sent. */
  readonly encryptKey: string;
}

/** Two secrets that tell nothing of each other, so that who signs the user in cannot open the key. */
export async function readRecoveryCode(text: string): Promise<RecoverySecrets> {
  const letters = String(text).toUpperCase().replace(/[\s-]/g, '').replace(/O/g, '0').replace(/[IL]/g, '1');
  if (letters.length !== LENGTH || [...letters].some((letter) => !ALPHABET.includes(letter))) {
    throw new SvcInputError('invalid_input', 'A recovery code has seven groups of four letters and digits.');
  }
  const code = new TextEncoder().encode(letters);
  const [signIn, key] = await Promise.all([derive(code, 'svc recovery sign-in 1'), derive(code, 'svc recovery key 1')]);
  return { recoverySecret: toBase64url(signIn), encryptKey: passkeyEncryptKey(key) };
}

async function derive(code: Bytes, use: string): Promise<Bytes> {
  const key = await subtle().importKey('raw', code, 'HKDF', false, ['deriveBits']);
  const algorithm = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: new TextEncoder().encode(use) };
  return new Uint8Array(await subtle().deriveBits(algorithm, key, SECRET_BITS));
}
