/** A 256-bit word: 64 lowercase hex digits, without `0x`. */
export function hex64(value: bigint): string {
  return value.toString(16).padStart(64, '0');
}
