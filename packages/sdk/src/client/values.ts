import type { Runtime } from './client.ts';

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Undefined for what is not base64. */
export function readBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** As many random bytes, each as two digits. */
export function randomHex(runtime: Runtime, bytes: number): string {
  return Array.from(runtime.randomBytes(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

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

/** A value as 64 digits, without 0x: one spelling for each. */
export const hex64 = (value: bigint) => value.toString(16).padStart(64, '0');
