/** Carries a solved challenge: the challenge, a dot and the solution. */
export const PROOF_HEADER = 'x-svc-proof';

/**
 * What a solver has to find: a number whose PBKDF2 (HMAC-SHA-256, the number in decimal as password, the challenge as salt, 32 bytes)
 * begins with `difficulty` zero bits. Every runtime computes PBKDF2 natively, so callers are hardly slower than attackers.
 */
export interface ProofOfWork {
  readonly challenge: string;
  readonly iterations: number;
  readonly difficulty: number;
}

export const PROOF_BYTES = 32;
/** A proof is a challenge of about 70 characters and a number. */
export const MAX_PROOF_LENGTH = 200;

export function hasLeadingZeros(bytes: Uint8Array, bits: number): boolean {
  for (let index = 0; index * 8 < bits; index++) {
    const missing = Math.min(8, bits - index * 8);
    if ((bytes[index] ?? 0xff) >> (8 - missing) !== 0) return false;
  }
  return true;
}
