import { shortString } from '@svc/starknet';
import { byteArrayFelts } from './byte-array.ts';

/** What a Cairo contract ends with when it gives up: felts, which a caller may catch. */
export class Panic extends Error {
  readonly felts: readonly bigint[];

  constructor(felts: readonly bigint[], options?: ErrorOptions) {
    super('A contract panicked.', options);
    this.felts = felts;
  }
}

/** First felt of a panic that carries a text longer than a short string, as the Cairo compiler writes it. */
export const BYTE_ARRAY_MAGIC = 0x46a6158a16a947e5916b2a2ca68501a45e93d7110e81aa2d6438b1c57c879a3n;
const SHORT_STRING_LENGTH = 31;

export function panic(text: string): never {
  throw new Panic(panicFelts(text));
}

/** Fails with this text unless the condition holds. */
export function require(condition: boolean, text: string): asserts condition {
  if (!condition) panic(text);
}

function panicFelts(text: string): bigint[] {
  if (text.length <= SHORT_STRING_LENGTH) return [shortString(text)];
  return [BYTE_ARRAY_MAGIC, ...byteArrayFelts(new TextEncoder().encode(text))];
}
