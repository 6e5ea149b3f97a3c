const WORD_BYTES = 31;

export function toInteger(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(toHexText(bytes));
}

export function toHexText(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes).toString('hex')}`;
}

/** Undefined where the text is not `0x` and whole bytes, at most so many. */
export function readHex(text: string, maxBytes: number): Uint8Array | undefined {
  if (text.length > 2 + 2 * maxBytes || !/^0x(?:[0-9a-fA-F]{2})*$/.test(text)) return undefined;
  return Uint8Array.from(Buffer.from(text.slice(2), 'hex'));
}

/** Cairo's ByteArray: how many whole words, the words, the last bytes and how many they are. */
export function encodeByteArray(bytes: Uint8Array): bigint[] {
  const wholeBytes = bytes.length - (bytes.length % WORD_BYTES);
  const words: bigint[] = [];
  for (let start = 0; start < wholeBytes; start += WORD_BYTES) {
    words.push(toInteger(bytes.subarray(start, start + WORD_BYTES)));
  }
  const rest = bytes.subarray(wholeBytes);
  return [BigInt(words.length), ...words, toInteger(rest), BigInt(rest.length)];
}
