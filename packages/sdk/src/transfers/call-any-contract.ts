import type { BearerToken, Client } from '../client/client.ts';
import { executeCalls } from '../signing/execute-calls.ts';
import type { CallsToSign } from '../signing/sign-calls.ts';

export type CallAnyContractParams = CallsToSign;

/**
 * Executes one or more calls in one transaction without gas, signed by the wallet's owner. Wallets of the current class do all of
 * them or none; earlier `SVC` classes skip a call that fails.
 *
 * After a `SvcConnectionError` the calls may have been executed: look at `getTransactionList` before you call again.
 *
 * @returns the transaction's hash
 * @example
 * const transactionHash = await svc.callAnyContract({
 *   encryptKey,
 *   wallet,
 *   calls: [{ contractAddress: tokenAddress, entrypoint: 'approve', calldata: [spender, '1000000', '0'] }],
 * });
 */
export function callAnyContract(
  client: Client,
  params: CallAnyContractParams,
  bearerToken?: BearerToken,
): Promise<string> {
  return executeCalls(client, params, bearerToken);
}
