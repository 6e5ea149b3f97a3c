import { chainIds, parseFelt, readShortString } from '@svc/starknet';
import type { Client } from '../client/client.ts';
import { SvcTypedDataError } from '../client/errors.ts';
import { getConfig } from '../client/get-config.ts';

/**
 * The chain that the service names, provided that it fits the app's key: what a development key signs is never good on mainnet,
 * and a production key signs for live networks alone.
 */
export async function chainIdOf(client: Client): Promise<bigint> {
  const { chainId: text } = await getConfig(client);
  const chainId = parseFelt(String(text));
  if (!chainId.ok) refuse(`The service names no chain: ${text}`);
  const isProduction = client.publicKey.startsWith('pk_prod_');
  const fits = isProduction ? isLive(chainId.value) : chainId.value !== chainIds.SN_MAIN;
  if (!fits)
    refuse(`The service names the chain ${readShortString(chainId.value)}, which does not fit your public key`);
  return chainId.value;
}

const isLive = (chainId: bigint) => chainId === chainIds.SN_MAIN || chainId === chainIds.SN_SEPOLIA;

function refuse(reason: string): never {
  throw new SvcTypedDataError('typed_data_mismatch', `${reason}. Nothing was signed.`);
}
