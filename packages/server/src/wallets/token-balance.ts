import {
  type AnswerOf,
  ApiError,
  type Environment,
  type endpoints,
  parseEvmAddress,
  type QueryOf,
} from '@svc/protocol';
import type { EvmChainName, Token } from '../chains/tokens.ts';
import type { Caller } from '../http/call.ts';
import { readAddress, refuse } from '../http/validation.ts';
import type { WalletDeps } from './signed-execution.ts';
import { findWallet, newestWallet } from './wallet.ts';

type Endpoint = typeof endpoints.getTokenBalance;
type Query = QueryOf<Endpoint>;

/** The interface's address of native coins. */
const NATIVE_COIN = `0x${'0'.repeat(40)}`;

export async function tokenBalance(
  deps: Pick<WalletDeps, 'db' | 'networks'>,
  caller: Caller,
  query: Query,
): Promise<AnswerOf<Endpoint>> {
  const { chain, chainToken, externalUserId, walletPublicKey } = query;
  if ((externalUserId === undefined) === (walletPublicKey === undefined)) {
    throw new ApiError('invalid_request', 'Send either query.externalUserId or query.walletPublicKey.');
  }
  const token = deps.networks.token(caller.environment, chain, chainToken);
  if (!token) throw new ApiError('token_not_supported', `${chain} does not have ${chainToken}.`);
  const balance =
    chain === 'STARKNET'
      ? await starknetBalance(deps, caller, token, query)
      : await evmBalance(deps.networks, caller.environment, chain, token, query);
  return {
    chain,
    chainToken,
    chainTokenAddress: token.address ?? NATIVE_COIN,
    decimals: token.decimals,
    balance: balance.toString(),
  };
}

async function starknetBalance(
  { db, networks }: Pick<WalletDeps, 'db' | 'networks'>,
  caller: Caller,
  token: Token,
  { externalUserId, walletPublicKey }: Query,
): Promise<bigint> {
  const owner =
    externalUserId === undefined
      ? await readableAddress({ db }, caller, walletPublicKey ?? '')
      : (await newestWallet(db.reads, caller, externalUserId)).address;
  return networks.starknet(caller.environment).chain.balanceOf(BigInt(token.address ?? 0), BigInt(owner));
}

/** Balances are public, but a user's token reads its own wallets only. */
async function readableAddress({ db }: Pick<WalletDeps, 'db'>, caller: Caller, text: string) {
  const address = readAddress(text, 'query.walletPublicKey');
  if (caller.proof === 'user token' && !(await findWallet(db.reads, caller, address))) {
    throw new ApiError('wallet_not_found', 'This user has no wallet with this walletPublicKey.');
  }
  return address;
}

function evmBalance(
  networks: WalletDeps['networks'],
  environment: Environment,
  chain: EvmChainName,
  token: Token,
  { walletPublicKey }: Query,
): Promise<bigint> {
  if (walletPublicKey === undefined) {
    throw new ApiError('unsupported_chain', `Users have wallets on STARKNET only. On ${chain}, send walletPublicKey.`);
  }
  const owner = parseEvmAddress(walletPublicKey);
  if (!owner.ok) refuse('query.walletPublicKey', owner.reason);
  return networks.evm(environment, chain).balanceOf(evmAddressOf(token), owner.value);
}

function evmAddressOf({ address }: Token) {
  const parsed = address === null ? undefined : parseEvmAddress(address);
  return parsed?.ok ? parsed.value : null;
}
