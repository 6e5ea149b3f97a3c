/** Without I, L, O and U, which are easily confused. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** Five bits each: 120 bits. */
const LENGTH = 24;

export function newRecoveryCode(): string {
  const letters = Array.from(crypto.getRandomValues(new Uint8Array(LENGTH)), (byte) => ALPHABET[byte % 32]);
  return letters.join('').replace(/(.{4})(?!$)/g, '$1-');
}

/** Accepts any case and separators. */
export function readRecoveryCode(text: string): string {
  const letters = text.toUpperCase().replace(/[^0-9A-Z]/g, '');
  return letters.replace(/(.{4})(?!$)/g, '$1-');
}
