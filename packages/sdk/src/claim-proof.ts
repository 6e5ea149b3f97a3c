import { hasLeadingZeros, PROOF_BYTES, type ProofOfWork } from '@svc/protocol';

/** More attempts than any difficulty of the service needs; a thousand are usual. */
const MAX_ATTEMPTS = 10_000_000;

/**
 * Solves a challenge of the service: about a second of work. Claim operations do it by themselves where the service asks for it; call it
 * in a worker of your own, or pass `solveProof` to the client.
 *
 * @example
 * const proof = await solveProof(await svc.gifts.getClaimChallenge());
 */
export async function solveProof({ challenge, iterations, difficulty }: ProofOfWork): Promise<string> {
  const encoder = new TextEncoder();
  const salt = encoder.encode(challenge);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const key = await crypto.subtle.importKey('raw', encoder.encode(String(attempt)), 'PBKDF2', false, ['deriveBits']);
    const bits = await crypto.subtle.deriveBits(
      { name: 'PBKDF2', hash: 'SHA-256', salt, iterations },
      key,
      PROOF_BYTES * 8,
    );
    if (hasLeadingZeros(new Uint8Array(bits), difficulty)) return `${challenge}.${attempt}`;
  }
  throw new Error('The challenge has no solution within reach.');
}
