import { randomInt } from 'node:crypto';

/** 26^8 codes: whoever may try ten a minute would need millennia for one of a million gifts. */
const LENGTH = 8;
const LETTERS = 26;

/** A code for a gift that was given none: letters A-Z that nobody can foresee. */
export function randomCode(): string {
  return Array.from({ length: LENGTH }, () => String.fromCharCode('A'.charCodeAt(0) + randomInt(LETTERS))).join('');
}

/** Codes are the same code whatever their case. */
export const codeKey = (code: string): string => code.toLowerCase();
