import type { Chain, endpoints, LedgerEntry } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { request } from '../client/request.ts';

export interface CreateDepositParams {
  /** Of a USDC transfer to the payment address that `getConfig` names. */
  readonly transactionHash: string;
  readonly chain: Chain;
}

/**
 * Turns a USDC transfer to the service's payment address into credits, once. On a server only: needs the secret key.
 *
 * @example
 * const { paymentAddress } = await svc.getConfig();
 * const paid = await svc.transfer({ encryptKey, wallet, amount: '10', token: 'USDC', recipient: paymentAddress });
 * await svc.waitForTransaction(paid);
 * const { amountUsd } = await svc.createDeposit({ transactionHash: paid, chain: 'STARKNET' });
 */
export function createDeposit(client: Client, { transactionHash, chain }: CreateDepositParams): Promise<LedgerEntry> {
  return request<typeof endpoints.createDeposit>(client, {
    route: 'POST /organization/deposits',
    access: 'secret',
    body: { transactionHash, chain },
  });
}
