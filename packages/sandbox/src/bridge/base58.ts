const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** As Solana writes keys and signatures: a leading zero byte is a `1`. */
export function encodeBase58(bytes: Uint8Array): string {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  let digits = '';
  for (; value > 0n; value /= 58n) digits = ALPHABET.charAt(Number(value % 58n)) + digits;
  const firstNonZero = bytes.findIndex((byte) => byte !== 0);
  return '1'.repeat(firstNonZero < 0 ? bytes.length : firstNonZero) + digits;
}
