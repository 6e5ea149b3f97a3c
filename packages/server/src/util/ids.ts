import { randomBytes } from 'node:crypto';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_CHARACTERS = 10;
const RANDOM_CHARACTERS = 16;

/** The first random part of a millisecond leaves the highest of 80 bits free, so that steps never run over the end. */
const FIRST_BITS = 79;
/** Nobody guesses a step of this size, and there is room for billions of them. */
const STEP_BITS = 47;

let last = { time: Number.NaN, random: 0n };

/**
 * A new identifier such as `org_01kxw8yy1c9f4n0v8d2b6h3k5m`: the kind of thing, then 48 bits of time, so that rows that
 * are made together lie together in an index, then 80 random bits, so that nobody guesses a neighbour. Of those that a
 * process makes in the same millisecond, each is greater than the one before: what is made in an order is listed in it.
 */
export function newId(prefix: string, now: number = Date.now()): string {
  const random = now === last.time ? last.random + 1n + randomOf(STEP_BITS) : randomOf(FIRST_BITS);
  last = { time: now, random };
  return `${prefix}_${spell(BigInt(now), TIME_CHARACTERS)}${spell(random, RANDOM_CHARACTERS)}`;
}

function randomOf(bits: number): bigint {
  return BigInt(`0x${randomBytes(Math.ceil(bits / 8)).toString('hex')}`) >> BigInt((8 - (bits % 8)) % 8);
}

function spell(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest >>= 5n) text = ALPHABET.charAt(Number(rest & 31n)) + text;
  return text;
}

/** Spreads ids evenly over lanes: the end of an id is random. */
export const laneOf = (id: string, lanes: number): number => (id.charCodeAt(id.length - 1) || 0) % lanes;
