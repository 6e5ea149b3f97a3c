import { toHex } from '@svc/starknet';
import type { StarknetNetwork } from '../chains/networks.ts';
import { cctpPlaces } from './cctp.ts';

/** Nothing may be burned where the bridge is not. */
export class WrongBridgeError extends Error {
  override readonly name = 'WrongBridgeError';
}

/** Looks whether the bridge's contracts are where we would send USDC to. Throws a `WrongBridgeError` where they are not. */
export async function checkBridgeContracts({ name, chain }: Pick<StarknetNetwork, 'name' | 'chain'>): Promise<void> {
  const { tokenMessenger, messageTransmitter } = cctpPlaces[name];
  for (const address of [tokenMessenger, messageTransmitter]) {
    if ((await chain.classHashAt(address)) !== undefined) continue;
    throw new WrongBridgeError(
      `The bridge's contract ${toHex(address)} does not exist on ${name}. Set BRIDGE=off to start without it.`,
    );
  }
}
