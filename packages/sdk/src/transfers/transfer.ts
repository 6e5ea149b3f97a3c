import type { ChainToken } from '@svc/protocol';
import { encodeU256, toHex } from '@svc/starknet';
import type { BearerToken, Client } from '../client/client.ts';
import { SvcInputError } from '../client/errors.ts';
import { executeCalls } from '../signing/execute-calls.ts';
import { readAddress } from '../signing/read-address.ts';
import type { ContractCall } from '../signing/to-call.ts';
import type { SvcWallet } from '../signing/wallet.ts';
import { readAmount } from './read-amount.ts';
import { tokenOf } from './token-of.ts';

export interface TransferParams {
  readonly encryptKey: string;
  readonly wallet: SvcWallet;
  /** In whole tokens, exact: `'0.5'`. Digits beyond the token's decimals are refused, never rounded. */
  readonly amount: string | number;
  readonly token: ChainToken;
  readonly recipient: string;
  /** The service knows its tokens' decimals; given, they must be those. Required for `OTHER`. */
  readonly decimals?: number | undefined;
  /** Required for `OTHER`; given for another token, it must be that token's. */
  readonly tokenAddress?: string | undefined;
}

/**
 * Sends tokens from the user's wallet without gas.
 *
 * After a `SvcConnectionError` the tokens may have been sent: look at `getTransactionList` before you call again.
 *
 * @returns the transaction's hash
 * @example
 * const transactionHash = await svc.transfer({ encryptKey, wallet, amount: '0.5', token: 'USDC', recipient });
 */
export async function transfer(client: Client, params: TransferParams, bearerToken?: BearerToken): Promise<string> {
  const { encryptKey, wallet } = params;
  return executeCalls(client, { encryptKey, wallet, calls: [await transferCall(client, params)] }, bearerToken);
}

/** The token's own function, with everything checked that can be known before a signature. */
export async function transferCall(
  client: Client,
  params: Pick<TransferParams, 'amount' | 'token' | 'recipient' | 'decimals' | 'tokenAddress'>,
): Promise<ContractCall> {
  const recipient = readAddress(params.recipient, 'recipient');
  const token = await tokenOf(client, params);
  // Tokens that arrive at their own contract are lost.
  if (recipient === token.address) {
    throw new SvcInputError('invalid_input', "recipient is the token's contract, which cannot spend what it is sent.");
  }
  const amount = readAmount(params.amount, token.decimals);
  return {
    contractAddress: toHex(token.address),
    entrypoint: 'transfer',
    calldata: [recipient, ...encodeU256(amount)],
  };
}
