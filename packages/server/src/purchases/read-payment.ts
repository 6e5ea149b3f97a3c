import { ApiError, type BodyOf, type ChainToken, type endpoints, type StarknetAddress } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import type { Networks, StarknetNetwork } from '../chains/networks.ts';
import type { Token } from '../chains/tokens.ts';
import type { Caller } from '../http/caller.ts';
import { parseStarknetHash } from '../transactions/hashes.ts';
import { readAddress, refuse } from '../wallets/fields.ts';

/** Tokens that are worth a dollar each. */
const DOLLARS: readonly ChainToken[] = ['USDC', 'USDC_E', 'USDT', 'DAI'];

/** What somebody says to have paid with, everything in its normal form. */
export interface SaidPayment {
  readonly network: StarknetNetwork;
  /** With the hash, what names the payment in the whole deployment. */
  readonly chainId: string;
  readonly hash: string;
  readonly walletAddress: StarknetAddress;
  readonly token: Token;
}

export function readPayment(
  networks: Networks,
  { environment }: Caller,
  body: BodyOf<typeof endpoints.createSkuPurchase>,
): SaidPayment {
  if (body.chain !== 'STARKNET') {
    throw new ApiError('unsupported_chain', 'The payment address is on STARKNET only. GET /config tells it.');
  }
  const hash = parseStarknetHash(body.transactionHash);
  if (!hash.ok) refuse('body.transactionHash', hash.reason);
  const walletAddress = readAddress(body.walletAddress, 'body.walletAddress');
  const network = networks.starknet(environment);
  const token = DOLLARS.includes(body.token) ? networks.token(environment, body.chain, body.token) : undefined;
  if (!token) {
    const offered = DOLLARS.filter((name) => networks.token(environment, body.chain, name));
    throw new ApiError('token_not_supported', `Purchases are paid in ${offered.join(', ')}, not in ${body.token}.`);
  }
  return { network, chainId: toHex(network.chain.chainId), hash: toHex(hash.value), walletAddress, token };
}
