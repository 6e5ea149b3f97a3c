const WORD_BYTES = 31;

/** Cairo's ByteArray: the number of whole words, the words, the last bytes and how many they are. */
export function byteArrayFelts(bytes: Uint8Array): bigint[] {
  const words: bigint[] = [];
  const whole = Math.floor(bytes.length / WORD_BYTES);
  for (let index = 0; index < whole; index += 1) {
    words.push(toInteger(bytes.subarray(index * WORD_BYTES, (index + 1) * WORD_BYTES)));
  }
  const pending = bytes.subarray(whole * WORD_BYTES);
  return [BigInt(whole), ...words, toInteger(pending), BigInt(pending.length)];
}

/** Undefined where the felts are no ByteArray. `words` are the whole ones. */
export function byteArrayBytes(
  words: readonly bigint[],
  pending: bigint,
  pendingLength: bigint,
): Uint8Array | undefined {
  if (pendingLength >= BigInt(WORD_BYTES)) return undefined;
  const parts = [...words.map((word) => toBytes(word, WORD_BYTES)), toBytes(pending, Number(pendingLength))];
  const bytes: number[] = [];
  for (const part of parts) {
    if (!part) return undefined;
    bytes.push(...part);
  }
  return Uint8Array.from(bytes);
}

export function toInteger(bytes: Uint8Array): bigint {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return value;
}

/** Big-endian; undefined where the value needs more bytes. */
export function toBytes(value: bigint, length: number): Uint8Array | undefined {
  if (value >> BigInt(8 * length) !== 0n) return undefined;
  const bytes = new Uint8Array(length);
  let rest = value;
  for (let index = length - 1; index >= 0; index -= 1) {
    bytes[index] = Number(rest & 0xffn);
    rest >>= 8n;
  }
  return bytes;
}
