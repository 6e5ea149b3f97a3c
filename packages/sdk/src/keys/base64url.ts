import { readBase64 } from '../client/read-base64.ts';

/** URL-safe base64 without padding. */
export function toBase64url(bytes: Uint8Array): string {
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** Undefined unless the text is exactly what `toBase64url` writes: one value has one spelling, so a changed letter is always noticed. */
export function fromBase64url(text: string): Uint8Array<ArrayBuffer> | undefined {
  const bytes = readBase64(text.replaceAll('-', '+').replaceAll('_', '/'));
  return bytes && toBase64url(bytes) === text ? bytes : undefined;
}
