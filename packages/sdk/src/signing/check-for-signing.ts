import type { Call, OutsideExecution } from '@svc/starknet';
import type { Client } from '../client/client.ts';
import { chainIdOf } from './chain-id.ts';
import { checkTypedData } from './check-typed-data.ts';
import { signingTime } from './signing-time.ts';

export interface CheckedExecution {
  readonly execution: OutsideExecution;
  readonly chainId: bigint;
}

/** Lets typed data through that is exactly these calls of this account, on the client's chain, now. */
export async function checkForSigning(
  client: Client,
  typedData: unknown,
  { account, calls }: { readonly account: bigint; readonly calls: readonly Call[] },
): Promise<CheckedExecution> {
  const chainId = await chainIdOf(client);
  const nowSeconds = await signingTime(client, chainId);
  return { execution: checkTypedData(typedData, { account, chainId, calls, nowSeconds }), chainId };
}
