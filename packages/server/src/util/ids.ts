import { randomFillSync } from 'node:crypto';

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

/** Drawn for many ids at once: asking the system takes longer than all else of an id. */
const drawn = Buffer.alloc(4_096);
let used = drawn.length;

function randomOf(bits: number): bigint {
  const bytes = Math.ceil(bits / 8);
  if (used + bytes > drawn.length) {
    randomFillSync(drawn);
    used = 0;
  }
  used += bytes;
  return BigInt(`0x${drawn.toString('hex', used - bytes, used)}`) >> BigInt((8 - (bits % 8)) % 8);
}

function encode(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest >>= 5n) text = ALPHABET.charAt(Number(rest & 31n)) + text;
  return text;
}

const RANDOM_BITS = 80n;
/** 44 bits of time reach the year 2527. */
export const ID_BITS = 124n;

/** Without its prefix, as a number of `ID_BITS`; undefined for a text of another form. */
export function idToBits(id: string): bigint | undefined {
  const text = id.slice(id.indexOf('_') + 1);
  if (text.length !== TIME_CHARACTERS + RANDOM_CHARACTERS) return undefined;
  let bits = 0n;
  for (const character of text) {
    const digit = ALPHABET.indexOf(character);
    if (digit < 0) return undefined;
    bits = (bits << 5n) | BigInt(digit);
  }
  return bits >> ID_BITS === 0n ? bits : undefined;
}

export function idFromBits(prefix: string, bits: bigint): string {
  const random = BigInt.asUintN(Number(RANDOM_BITS), bits);
  return `${prefix}_${encode(bits >> RANDOM_BITS, TIME_CHARACTERS)}${encode(random, RANDOM_CHARACTERS)}`;
}

export const laneOf = (id: string, lanes: number): number => (id.charCodeAt(id.length - 1) || 0) % lanes;
