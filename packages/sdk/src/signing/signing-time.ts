import { chainIds } from '@svc/starknet';
import type { Client } from '../client/client.ts';
import { chainTime } from '../node/chain-time.ts';

/** The time against which windows are checked: this device's, or the sandbox's own, which can be moved. */
export async function signingTime(client: Client, chainId: bigint): Promise<bigint> {
  if (chainId === chainIds.SVC_SANDBOX) return chainTime(client);
  return BigInt(Math.floor(client.runtime.now() / 1_000));
}
