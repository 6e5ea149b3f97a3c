import { randomInt } from 'node:crypto';

/** 2·10^11 codes: at ten tries a minute one address needs 40 years for one of ten thousand gifts. Codes of your own can be longer. */
const LENGTH = 8;
const LETTERS = 26;

/** A code for a gift that was given none: letters A-Z that nobody can foresee. */
export function randomCode(): string {
  return Array.from({ length: LENGTH }, () => String.fromCharCode('A'.charCodeAt(0) + randomInt(LETTERS))).join('');
}

/** Codes are the same code whatever their case. */
export const codeKey = (code: string): string => code.toLowerCase();
