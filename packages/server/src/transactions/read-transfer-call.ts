import { parseStarknetAddress, type StarknetAddress } from '@svc/protocol';
import { type Call, CalldataReader, toHex } from '@svc/starknet';
import { TRANSFER_FUNCTION } from './well-known-functions.ts';

export interface TransferCall {
  readonly token: StarknetAddress;
  readonly to: StarknetAddress;
  /** In the token's smallest unit. */
  readonly amount: bigint;
}

/** The ERC-20 transfer that a call asks for; undefined when it asks for something else. */
export function readTransferCall({ to: contract, selector, calldata }: Call): TransferCall | undefined {
  if (selector !== TRANSFER_FUNCTION) return undefined;
  const reader = new CalldataReader(calldata);
  const read = reader.finish({ to: reader.address(), amount: reader.u256() });
  if (!read) return undefined;
  const [token, to] = [parseStarknetAddress(toHex(contract)), parseStarknetAddress(toHex(read.to))];
  return token.ok && to.ok ? { token: token.value, to: to.value, amount: read.amount } : undefined;
}
