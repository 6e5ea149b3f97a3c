import type { Runtime } from './client.ts';

export { isObject } from '@svc/protocol';

export function readBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

export function randomHex(runtime: Runtime, bytes: number): string {
  return Array.from(runtime.randomBytes(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

export function toBase64url(bytes: Uint8Array): string {
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** Undefined unless the text is canonical, so that every changed letter is detected. */
export function fromBase64url(text: string): Uint8Array<ArrayBuffer> | undefined {
  const bytes = readBase64(text.replaceAll('-', '+').replaceAll('_', '/'));
  return bytes && toBase64url(bytes) === text ? bytes : undefined;
}
