import { ApiError, type ChainToken, chains, chainTokens, parseStarknetAddress, parseTokenAmount } from '@svc/protocol';
import { type EvmChain, evmChains, type NativeCoin } from '../evm/tokens.ts';
import { starknetTokens } from '../tokens.ts';
import { type Body, readBody, readOneOf, readText } from './body.ts';
import type { Funding } from './fund.ts';

/** In whole tokens: more than any test needs, and no balance comes near its limit. */
const MAX_WHOLE = 1_000_000_000n;
/** As long as the longest decimal that is read. */
const MAX_LENGTH = 98;
const NATIVE_DECIMALS = 18;

export type FaucetRequest =
  | { readonly chain: 'STARKNET'; readonly funding: Funding }
  | {
      readonly chain: EvmChain;
      readonly address: string;
      readonly token: ChainToken | NativeCoin;
      readonly amount: bigint;
    };

/** `POST /faucet` `{address, token, amount, chain?}`: amount in whole tokens as a decimal text, STARKNET by default. */
export function readFaucetRequest(value: unknown): FaucetRequest {
  const body = readBody(value);
  const chain = body.chain === undefined ? 'STARKNET' : readOneOf(body, 'chain', chains);
  const address = readText(body, 'address', MAX_LENGTH);
  if (chain !== 'STARKNET') {
    const token = readOneOf(body, 'token', [...chainTokens, evmChains[chain].native]);
    return { chain, address, token, amount: readAmount(body, evmDecimals(chain, token)) };
  }
  const token = readOneOf(body, 'token', chainTokens);
  const known = starknetTokens.find((one) => one.token === token);
  if (!known) throw new ApiError('token_not_supported');
  const to = parseStarknetAddress(address);
  if (!to.ok) throw new ApiError('invalid_request', `body.address ${to.reason}.`);
  const amount = readAmount(body, known.decimals);
  return { chain, funding: { token: known.address, to: BigInt(to.value), amount } };
}

function evmDecimals(chain: EvmChain, token: string): number {
  const { native, tokens } = evmChains[chain];
  if (token === native) return NATIVE_DECIMALS;
  const known = tokens.find((one) => one.token === token);
  if (!known) throw new ApiError('token_not_supported');
  return known.decimals;
}

function readAmount(body: Body, decimals: number): bigint {
  const amount = parseTokenAmount(readText(body, 'amount', MAX_LENGTH), decimals);
  if (!amount.ok) throw new ApiError('invalid_request', `body.amount ${amount.reason}.`);
  if (amount.value === 0n) throw new ApiError('invalid_request', 'body.amount must be more than 0.');
  if (amount.value > MAX_WHOLE * 10n ** BigInt(decimals)) {
    throw new ApiError('invalid_request', `body.amount must be at most ${MAX_WHOLE}.`);
  }
  return amount.value;
}
