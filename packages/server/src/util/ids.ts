import { randomBytes } from 'node:crypto';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_CHARACTERS = 10;
const RANDOM_CHARACTERS = 16;

const FIRST_BITS = 79; // of 80: steps within a millisecond cannot overflow
const STEP_BITS = 47;

let last = { time: Number.NaN, random: 0n };

/** `org_01kxw8yy…`: 48 bits of time for index locality, then 80 random bits; ascending within a process. */
export function newId(prefix: string, now: number = Date.now()): string {
  const random = now === last.time ? last.random + 1n + randomOf(STEP_BITS) : randomOf(FIRST_BITS);
  last = { time: now, random };
  return `${prefix}_${encode(BigInt(now), TIME_CHARACTERS)}${encode(random, RANDOM_CHARACTERS)}`;
}

function randomOf(bits: number): bigint {
  return BigInt(`0x${randomBytes(Math.ceil(bits / 8)).toString('hex')}`) >> BigInt((8 - (bits % 8)) % 8);
}

function encode(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest >>= 5n) text = ALPHABET.charAt(Number(rest & 31n)) + text;
  return text;
}

export const laneOf = (id: string, lanes: number): number => (id.charCodeAt(id.length - 1) || 0) % lanes;
