import { parseStarknetAddress, type WalletType } from '@svc/protocol';
import { SvcInputError } from './errors.ts';

export { isObject } from '@svc/protocol';

export function readBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** Of the client's runtime. */
interface Randomness {
  randomBytes(length: number): Uint8Array;
}

export function randomHex(runtime: Randomness, bytes: number): string {
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

/** Never repeats the text: node URLs contain keys. */
export function readUrl(
  name: string,
  text: string,
  code: 'invalid_options' | 'invalid_input' = 'invalid_options',
): URL {
  if (typeof text !== 'string' || !URL.canParse(text)) throw new SvcInputError(code, `${name} is not an address.`);
  const url = new URL(text);
  if (!/^https?:$/.test(url.protocol)) throw new SvcInputError(code, `${name} must begin with https://`);
  return url;
}

export function readAddress(text: string, name: string): bigint {
  const address = typeof text === 'string' ? parseStarknetAddress(text) : undefined;
  if (address?.ok) return BigInt(address.value);
  throw new SvcInputError('invalid_input', `${name} ${address?.reason ?? 'must be text: 0x and hexadecimal digits'}.`);
}

/** A wallet as `createWallet` and `getWallet` return it. */
export interface SvcWallet {
  /** The account's address. */
  readonly publicKey: string;
  readonly encryptedPrivateKey: string;
  readonly walletType?: WalletType | 'SHHH' | undefined;
}

export type Integer = bigint | number | string;

interface IntegerRange {
  readonly min: bigint;
  readonly max: bigint;
}

/** A whole number in a range, from a bigint, decimal text or a safe integer. */
export function readInteger(name: string, value: Integer, { min, max }: IntegerRange): bigint {
  const read = toBigInt(value);
  if (read !== undefined && read >= min && read <= max) return read;
  throw new SvcInputError('invalid_input', `${name} must be a whole number from ${min} to ${max}.`);
}

function toBigInt(value: Integer): bigint | undefined {
  if (typeof value === 'bigint') return value;
  // At most the digits of a u256: longer text would cost a large conversion.
  if (typeof value === 'string') return /^\d{1,78}$/.test(value) ? BigInt(value) : undefined;
  return Number.isSafeInteger(value) ? BigInt(value) : undefined;
}
