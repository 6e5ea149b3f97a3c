import { ApiError, parseStarknetAddress, type StarknetAddress } from '@svc/protocol';
import { ADDRESS_BOUND, parseFelt } from '@svc/starknet';

/** Each reads one field of a request; what cannot be read is an `invalid_request` that names the field. */
export function readFelt(text: string, field: string): bigint {
  const felt = parseFelt(text);
  return felt.ok ? felt.value : refuse(field, felt.reason);
}

export function readClassHash(text: string, field: string): bigint {
  const hash = readFelt(text, field);
  return hash > 0n && hash < ADDRESS_BOUND ? hash : refuse(field, 'must be the hash of a class');
}

export function readAddress(text: string, field: string): StarknetAddress {
  const address = parseStarknetAddress(text);
  return address.ok ? address.value : refuse(field, address.reason);
}

export function refuse(field: string, reason: string): never {
  throw new ApiError('invalid_request', `${field} ${reason}.`);
}
