import { expect, it } from 'vitest';
import type { StarknetNetwork } from '../chains/networks.ts';
import { checkBridgeContracts } from './cctp-bridge.ts';
import { cctpPlaces } from './cctp-message.ts';

/** A Starknet on which contracts stand at these addresses alone. */
const networkWith = (...addresses: bigint[]): Pick<StarknetNetwork, 'name' | 'chain' | 'bridge'> => {
  const classHashAt = async (address: bigint) => (addresses.includes(address) ? 1n : undefined);
  return { name: 'sepolia', chain: { classHashAt } as unknown as StarknetNetwork['chain'] };
};
const { tokenMessenger, messageTransmitter } = cctpPlaces.sepolia;

it('a network where both contracts stand is fine', async () => {
  await expect(checkBridgeContracts(networkWith(tokenMessenger, messageTransmitter))).resolves.toBeUndefined();
});

it.each([tokenMessenger, messageTransmitter])('a network where only %d stands is refused', async (only) => {
  await expect(checkBridgeContracts(networkWith(only))).rejects.toThrow('does not exist on sepolia');
});
