import { type ChainToken, parseStarknetAddress, parseTokenAmount } from '@svc/protocol';
import { encodeU256, toHex } from '@svc/starknet';
import type { BearerToken, Client } from './client/client.ts';
import { type Config, getConfig } from './client/config.ts';
import { SvcConnectionError, SvcInputError } from './client/errors.ts';
import { isDecimals, MAX_DECIMALS, requireTrustedToken, type Token } from './client/trust.ts';
import { isObject, readAddress, type SvcWallet } from './client/values.ts';
import { type CallsToSign, type ContractCall, executeCalls } from './signing/calls.ts';
import { chainIdOf } from './signing/check.ts';

export interface TransferParams {
  readonly encryptKey: string;
  readonly wallet: SvcWallet;
  /** In whole tokens, exact: `'0.5'`. More digits than the token's decimals are refused, never rounded. */
  readonly amount: string | number;
  readonly token: ChainToken;
  readonly recipient: string;
  /** Required for `OTHER`; for any other token it must match the service's value. */
  readonly decimals?: number | undefined;
  /** Required for `OTHER`; for any other token it must match the service's value. */
  readonly tokenAddress?: string | undefined;
}

/**
 * Sends tokens from the user's wallet. The service pays the gas.
 *
 * After a `SvcConnectionError` the tokens may have been sent: check `getTransactionList` before calling again.
 *
 * @returns the transaction's hash
 * @example
 * const transactionHash = await svc.transfer({ encryptKey, wallet, amount: '0.5', token: 'USDC', recipient });
 */
export async function transfer(client: Client, params: TransferParams, bearerToken?: BearerToken): Promise<string> {
  const { encryptKey, wallet } = params;
  return executeCalls(client, { encryptKey, wallet, calls: [await transferCall(client, params)] }, bearerToken);
}

export type CallAnyContractParams = CallsToSign;

/**
 * Executes one or more calls in one transaction, signed by the wallet's owner. The service pays the gas. Wallets of
 * the current class execute all calls or none; earlier `SVC` classes skip a call that fails.
 *
 * After a `SvcConnectionError` the calls may have been executed: check `getTransactionList` before calling again.
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

/** The ERC-20 call, validated as far as possible before signing. */
export async function transferCall(
  client: Client,
  params: Pick<TransferParams, 'amount' | 'token' | 'recipient' | 'decimals' | 'tokenAddress'>,
): Promise<ContractCall> {
  const recipient = readAddress(params.recipient, 'recipient');
  const token = await tokenOf(client, params);
  // Tokens sent to their own contract are lost.
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

/** In the token's smallest units, exact, above zero. */
function readAmount(amount: string | number, decimals: number): bigint {
  if (typeof amount === 'number' && !isExact(amount)) refuse('is a number that is not exact: pass it as text');
  // A number stands for its shortest decimal form, as it was typed.
  const raw = parseTokenAmount(String(amount), decimals);
  if (!raw.ok) refuse(raw.reason);
  if (raw.value === 0n) refuse('must be more than zero');
  return raw.value;
}

const isExact = (amount: number) => Number.isFinite(amount) && Math.abs(amount) <= Number.MAX_SAFE_INTEGER;

function refuse(reason: string): never {
  throw new SvcInputError('invalid_input', `amount ${reason}.`);
}

interface NamedToken {
  readonly token: ChainToken;
  readonly tokenAddress?: string | undefined;
  readonly decimals?: number | undefined;
}

/** Address and decimals as the service states them, and on live networks as the library knows them. */
export async function tokenOf(client: Client, named: NamedToken): Promise<Token> {
  const found = await statedToken(client, named);
  const isOwn = named.decimals !== undefined;
  requireTrustedToken(client.trust, { chainId: await chainIdOf(client), token: named.token, isOwn, ...found });
  return found;
}

/** Values from the caller must match: a wrong number of decimals changes the amount. */
async function statedToken(client: Client, named: NamedToken): Promise<Token> {
  const { token, tokenAddress, decimals } = named;
  const given = tokenAddress === undefined ? undefined : readAddress(tokenAddress, 'tokenAddress');
  const tokens = knownTokens(await getConfig(client));
  const known = tokens.find((one) => (token === 'OTHER' ? one.address === given : one.token === token));
  if (!known) return otherToken(named, given);
  if (given !== undefined && given !== known.address) refuseToken(`tokenAddress is not the address of ${known.token}`);
  if (decimals !== undefined && decimals !== known.decimals) {
    refuseToken(`decimals is ${decimals}, but ${known.token} has ${known.decimals}`);
  }
  return { address: known.address, decimals: known.decimals };
}

function knownTokens({ tokens }: Config) {
  if (!Array.isArray(tokens) || !tokens.every(isObject)) throw invalidAnswer();
  return (tokens as Config['tokens']).flatMap(({ chain, token, address, decimals }) => {
    if (chain !== 'STARKNET' || address === null) return [];
    const value = parseStarknetAddress(String(address));
    if (!value.ok || !isDecimals(decimals)) throw invalidAnswer();
    return [{ token, address: BigInt(value.value), decimals }];
  });
}

const invalidAnswer = () =>
  new SvcConnectionError('invalid_answer', 'The service does not name its tokens as agreed. Is baseUrl its address?');

function otherToken({ token, decimals }: NamedToken, address: bigint | undefined): Token {
  if (token !== 'OTHER')
    refuseToken(`${token} is no token of this network; pass token OTHER with tokenAddress and decimals`);
  if (address === undefined || decimals === undefined) refuseToken('token OTHER needs tokenAddress and decimals');
  if (!isDecimals(decimals)) refuseToken(`decimals must be a whole number from 0 to ${MAX_DECIMALS}`);
  return { address, decimals };
}

function refuseToken(reason: string): never {
  throw new SvcInputError('invalid_input', `${reason}.`);
}
