import type { Caller } from '../http/caller.ts';

/** The key that records name as theirs. Endpoints that record something let nobody in without it. */
export function publicKeyOf({ apiPublicKey }: Caller): string {
  if (apiPublicKey === undefined) throw new Error('A record needs the public key of its caller.');
  return apiPublicKey;
}
