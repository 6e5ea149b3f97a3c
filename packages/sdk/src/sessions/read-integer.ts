import { SvcInputError } from '../client/errors.ts';

export type Integer = bigint | number | string;

export interface IntegerRange {
  readonly min: bigint;
  readonly max: bigint;
}

/** A whole number in a range: bigint, decimal text, or a number that is exact. */
export function readInteger(name: string, value: Integer, { min, max }: IntegerRange): bigint {
  const read = toBigInt(value);
  if (read !== undefined && read >= min && read <= max) return read;
  throw new SvcInputError('invalid_input', `${name} must be a whole number from ${min} to ${max}.`);
}

function toBigInt(value: Integer): bigint | undefined {
  if (typeof value === 'bigint') return value;
  // Length first: the digits of the largest u256, so that no text orders a huge conversion.
  if (typeof value === 'string') return /^\d{1,78}$/.test(value) ? BigInt(value) : undefined;
  return Number.isSafeInteger(value) ? BigInt(value) : undefined;
}
