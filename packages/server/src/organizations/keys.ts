import { hash, randomBytes } from 'node:crypto';
import type { Environment } from '@svc/protocol';

export type KeyKind = 'public' | 'secret';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
/** 36 characters of 62 are 214 bits: nobody guesses one, and a plain SHA-256 is enough to keep it. */
const SECRET_CHARACTERS = 36;
const KEY_PATTERN = /^(pk|sk)_(dev|prod)_[A-Za-z0-9]{32,128}$/;

const kindPrefix: Record<KeyKind, string> = { public: 'pk', secret: 'sk' };
const environmentPrefix: Record<Environment, string> = { development: 'dev', production: 'prod' };

export function keyPrefix(kind: KeyKind, environment: Environment): string {
  return `${kindPrefix[kind]}_${environmentPrefix[environment]}_`;
}

export function generateKey(kind: KeyKind, environment: Environment): string {
  return keyPrefix(kind, environment) + randomText(SECRET_CHARACTERS);
}

/** Whether a text can be a key at all; anything else never reaches the database. */
export function looksLikeKey(text: string, kind: KeyKind): boolean {
  return KEY_PATTERN.test(text) && text.startsWith(kindPrefix[kind]);
}

/** In base64. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'base64');
}

/** Bytes above the largest multiple of 62 are thrown away, so that every character is equally likely. */
function randomText(length: number): string {
  const limit = 256 - (256 % ALPHABET.length);
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < limit && text.length < length) text += ALPHABET.charAt(byte % ALPHABET.length);
    }
  }
  return text;
}
