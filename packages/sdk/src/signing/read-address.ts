import { parseStarknetAddress } from '@svc/protocol';
import { SvcInputError } from '../client/errors.ts';

/** An address by its value; `name` is what the caller knows it by. */
export function readAddress(text: string, name: string): bigint {
  const address = typeof text === 'string' ? parseStarknetAddress(text) : undefined;
  if (address?.ok) return BigInt(address.value);
  throw new SvcInputError('invalid_input', `${name} ${address?.reason ?? 'must be text: 0x and hexadecimal digits'}.`);
}
