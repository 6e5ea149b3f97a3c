import type { AnswerOf, Chain, ChainToken, endpoints } from '@svc/protocol';
import type { BearerToken, Client } from '../client/client.ts';
import { SvcInputError } from '../client/errors.ts';
import { request } from '../client/request.ts';

export type GetTokenBalanceParams = {
  readonly chainToken: ChainToken;
  readonly chain: Chain;
} & (
  | { readonly walletPublicKey: string; readonly externalUserId?: undefined }
  | { readonly externalUserId: string; readonly walletPublicKey?: undefined }
);

/** `balance` is a whole number of the token's smallest units; `decimals` says how small. */
export type TokenBalance = AnswerOf<typeof endpoints.getTokenBalance>;

/**
 * Reads a wallet's balance of one token, by the wallet's address or by its user.
 *
 * @example
 * const { balance, decimals } = await svc.getTokenBalance({ chain: 'STARKNET', chainToken: 'USDC', externalUserId: 'ana' });
 */
export async function getTokenBalance(
  client: Client,
  { chainToken, chain, walletPublicKey, externalUserId }: GetTokenBalanceParams,
  bearerToken?: BearerToken,
): Promise<TokenBalance> {
  if ((walletPublicKey === undefined) === (externalUserId === undefined)) {
    throw new SvcInputError('invalid_input', 'Pass either walletPublicKey or externalUserId.');
  }
  return await request<typeof endpoints.getTokenBalance>(client, {
    route: 'GET /svc-wallets/token-balance',
    access: 'both',
    query: { chainToken, chain, walletPublicKey, externalUserId },
    bearerToken,
  });
}
