import { type Client, defaultRuntime, type Runtime } from '../client/client.ts';
import { SvcInputError, SvcKeyError } from '../client/errors.ts';
import { toBase64url } from '../client/values.ts';
import { type Bytes, isPasskeyKey, passkeyEncryptKey, subtle } from './cipher.ts';

const MIN_DIGITS = 6;
/** Excludes the PINs that are tried first: 123456, 000000, 159753. */
const MIN_PIN_GUESSES = 10_000;
/** Score 3 of zxcvbn: eight characters without a pattern, or three words. */
const MIN_TEXT_GUESSES = 100_000_000;
/** Longer texts are judged by their beginning: the estimate's time grows with the length. */
const JUDGED_CHARACTERS = 64;

const PRODUCTION = 'pk_prod_';

/** Estimates how many guesses find a text. Replaceable in tests. */
type EstimateGuesses = (text: string) => Promise<number>;

/**
 * For a secret that is being chosen. With a production key a weak one is an error, with a development key a warning.
 * Passkeys are not weak.
 */
export async function requireStrongEncryptKey(
  { publicKey, allowWeakEncryptKeys }: Pick<Client, 'publicKey' | 'allowWeakEncryptKeys'>,
  encryptKey: string,
  estimate: EstimateGuesses = estimateGuesses,
): Promise<void> {
  if (allowWeakEncryptKeys || isPasskeyKey(encryptKey)) return;
  if (!publicKey.startsWith(PRODUCTION)) return warnOnce(encryptKey, estimate);
  const weakness = await weaknessOf(encryptKey, estimate);
  if (weakness !== undefined) throw new SvcKeyError('weak_encrypt_key', weakness);
}

async function weaknessOf(encryptKey: string, estimate: EstimateGuesses): Promise<string | undefined> {
  const isPin = /^\d+$/.test(encryptKey);
  if (isPin && encryptKey.length < MIN_DIGITS) return `A PIN needs at least ${MIN_DIGITS} digits.`;
  const guesses = await estimate(encryptKey.slice(0, JUDGED_CHARACTERS));
  if (isPin) return guesses < MIN_PIN_GUESSES ? 'This PIN is among the first that are guessed.' : undefined;
  if (guesses >= MIN_TEXT_GUESSES) return undefined;
  return 'This passphrase is too easy to guess. Take three or more unrelated words, or a passkey.';
}

let warned = false;

async function warnOnce(encryptKey: string, estimate: EstimateGuesses): Promise<void> {
  if (warned) return;
  const weakness = await weaknessOf(encryptKey, estimate).catch(() => undefined);
  if (weakness === undefined || warned) return;
  warned = true;
  console.warn(`svc: ${weakness} With production keys it is refused (weak_encrypt_key).`);
}

/** Loaded when a secret is chosen: the list of common passwords is larger than the library. */
async function estimateGuesses(text: string): Promise<number> {
  try {
    const [{ ZxcvbnFactory }, { adjacencyGraphs, dictionary }] = await Promise.all([
      import('@zxcvbn-ts/core'),
      import('@zxcvbn-ts/language-common'),
    ]);
    return new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs }).check(text).guesses;
  } catch (cause) {
    const message = 'The strength of the encryptKey could not be checked: its module did not load.';
    throw new SvcKeyError('crypto_unavailable', message, { cause });
  }
}

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

interface RecoverySecrets {
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
