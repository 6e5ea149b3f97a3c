import { randomBytes } from 'node:crypto';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_CHARACTERS = 10;
const RANDOM_CHARACTERS = 16;

/**
 * A new identifier such as `org_01kxw8yy1c9f4n0v8d2b6h3k5m`: the kind of thing, then 48 bits of time, so that rows that
 * are made together lie together in an index, then 80 random bits, so that nobody guesses a neighbour.
 */
export function newId(prefix: string, now: number = Date.now()): string {
  let time = '';
  for (let rest = now, i = 0; i < TIME_CHARACTERS; i++, rest = Math.floor(rest / 32)) {
    time = ALPHABET.charAt(rest % 32) + time;
  }
  const random = Array.from(randomBytes(RANDOM_CHARACTERS), (byte) => ALPHABET.charAt(byte % 32)).join('');
  return `${prefix}_${time}${random}`;
}
