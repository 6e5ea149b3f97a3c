import { parseStarknetAddress, type WalletType } from '@svc/protocol';
import { SvcInputError } from './errors.ts';

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
