import { parseFelt } from '@svc/starknet';

/** A value of a request that is not what it should be; the message names it. */
export class FieldError extends Error {
  override readonly name = 'FieldError';
}

export type Fields = Readonly<Record<string, unknown>>;

export function readObject(value: unknown, name: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw new FieldError(`${name} must be an object`);
}

/** Felts travel as hex; a decimal would pass here and fail on a live node. */
export function readFelt(value: unknown, name: string): bigint {
  if (typeof value !== 'string' || !value.startsWith('0x')) throw new FieldError(`${name} must be a felt in hex (0x…)`);
  const felt = parseFelt(value);
  if (!felt.ok) throw new FieldError(`${name} ${felt.reason}`);
  return felt.value;
}

export function readUint(value: unknown, name: string, bits: number): bigint {
  const number = readFelt(value, name);
  if (number >> BigInt(bits) !== 0n) throw new FieldError(`${name} must fit ${bits} bits`);
  return number;
}

export function readFelts(value: unknown, name: string): bigint[] {
  if (!Array.isArray(value)) throw new FieldError(`${name} must be an array of felts`);
  return value.map((item, index) => readFelt(item, `${name}[${index}]`));
}

export function readInteger(value: unknown, name: string, min: number, max: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw new FieldError(`${name} must be a whole number from ${min} to ${max}`);
}

export function readChoice<T extends string>(value: unknown, name: string, choices: readonly T[]): T {
  const choice = choices.find((one) => one === value);
  if (choice === undefined) throw new FieldError(`${name} must be one of ${choices.join(', ')}`);
  return choice;
}
