import { parseFelt } from '@svc/starknet';
import { SvcInputError } from '../client/errors.ts';

/** The public key of a session by its value. Zero is nobody's. */
export function readSessionKey(text: string): bigint {
  const felt = typeof text === 'string' ? parseFelt(text) : undefined;
  if (felt?.ok && felt.value !== 0n) return felt.value;
  throw new SvcInputError(
    'invalid_input',
    'sessionPublicKey must be the publicKey of a session: 0x and hexadecimal digits.',
  );
}
