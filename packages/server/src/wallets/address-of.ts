import { parseStarknetAddress, type StarknetAddress } from '@svc/protocol';
import { toHex } from '@svc/starknet';

/** The normal form of an address that the chain has shown us. */
export function addressOf(felt: bigint): StarknetAddress {
  const address = parseStarknetAddress(toHex(felt));
  if (!address.ok) throw new RangeError(`${toHex(felt)} ${address.reason}.`);
  return address.value;
}
