import type { Client } from '../client/client.ts';
import { SvcKeyError } from '../client/errors.ts';
import { isPasskeyKey } from './cipher.ts';

const MIN_DIGITS = 6;
/** Excludes the PINs that are tried first: 123456, 000000, 159753. */
const MIN_PIN_GUESSES = 10_000;
/** Score 3 of zxcvbn: eight characters without a pattern, or three words. */
const MIN_TEXT_GUESSES = 100_000_000;
/** Longer texts are judged by their beginning: the estimate's time grows with the length. */
const JUDGED_CHARACTERS = 64;

const PRODUCTION = 'pk_prod_';

/** Estimates how many guesses find a text. Replaceable in tests. */
export type EstimateGuesses = (text: string) => Promise<number>;

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
