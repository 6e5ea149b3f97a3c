import {
  ApiError,
  type BodyOf,
  type Chain,
  type Environment,
  type endpoints,
  type Parsed,
  parseEvmAddress,
  parseStarknetAddress,
  parseTokenAmount,
} from '@svc/protocol';
import { toHex } from '@svc/starknet';
import type { Networks } from '../chains/networks.ts';
import type { Token } from '../chains/tokens.ts';
import { refuse } from '../wallets/fields.ts';
import { parseEvmHash, parseStarknetHash } from './hashes.ts';

/** What somebody says that a transaction moved; everything in its normal form. */
export interface ExpectedTransfer {
  readonly chain: Chain;
  readonly hash: string;
  readonly sender: string;
  readonly recipient: string;
  readonly token: Token;
  readonly amount: bigint;
}

type Body = BodyOf<typeof endpoints.recordSend>;

export function readExpected(networks: Networks, environment: Environment, body: Body): ExpectedTransfer {
  const { chain, expectedToken } = body;
  const address: (text: string) => Parsed<string> = chain === 'STARKNET' ? parseStarknetAddress : parseEvmAddress;
  const hash =
    chain === 'STARKNET' ? hexOf(parseStarknetHash(body.transactionHash)) : parseEvmHash(body.transactionHash);
  const expected = {
    chain,
    hash: need('transactionHash', hash),
    sender: need('expectedSender', address(body.expectedSender)),
    recipient: need('expectedRecipient', address(body.expectedRecipient)),
  };
  const token = networks.token(environment, chain, expectedToken);
  if (!token) throw new ApiError('token_not_supported', `${chain} does not have the token ${expectedToken}.`);
  const amount = need('expectedAmount', parseTokenAmount(body.expectedAmount, token.decimals));
  return { ...expected, token, amount };
}

function need<T>(field: string, value: Parsed<T>): T {
  return value.ok ? value.value : refuse(`body.${field}`, value.reason);
}

function hexOf(hash: Parsed<bigint>): Parsed<string> {
  return hash.ok ? { ok: true, value: toHex(hash.value) } : hash;
}
