import { type ChainToken, parseStarknetAddress } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { SvcConnectionError, SvcInputError } from '../client/errors.ts';
import { type Config, getConfig } from '../client/get-config.ts';
import { isObject } from '../client/is-object.ts';
import { readAddress } from '../signing/read-address.ts';

export interface NamedToken {
  readonly token: ChainToken;
  readonly tokenAddress?: string | undefined;
  readonly decimals?: number | undefined;
}

export interface Token {
  readonly address: bigint;
  readonly decimals: number;
}

/** ERC-20 keeps decimals in a byte. */
const MAX_DECIMALS = 255;

/**
 * Where the token stands and what a whole one is, as the service says. What the caller says as well must agree: a wrong number of
 * decimals moves the point, and with it the money.
 */
export async function tokenOf(client: Client, named: NamedToken): Promise<Token> {
  const { token, tokenAddress, decimals } = named;
  const given = tokenAddress === undefined ? undefined : readAddress(tokenAddress, 'tokenAddress');
  const tokens = knownTokens(await getConfig(client));
  const known = tokens.find((one) => (token === 'OTHER' ? one.address === given : one.token === token));
  if (!known) return otherToken(named, given);
  if (given !== undefined && given !== known.address) refuse(`tokenAddress is not the address of ${known.token}`);
  if (decimals !== undefined && decimals !== known.decimals) {
    refuse(`decimals is ${decimals}, but ${known.token} has ${known.decimals}`);
  }
  return { address: known.address, decimals: known.decimals };
}

function knownTokens({ tokens }: Config) {
  if (!Array.isArray(tokens) || !tokens.every(isObject)) throw notAsAgreed();
  return (tokens as Config['tokens']).flatMap(({ chain, token, address, decimals }) => {
    if (chain !== 'STARKNET' || address === null) return [];
    const value = parseStarknetAddress(String(address));
    if (!value.ok || !isDecimals(decimals)) throw notAsAgreed();
    return [{ token, address: BigInt(value.value), decimals }];
  });
}

const notAsAgreed = () =>
  new SvcConnectionError('invalid_answer', 'The service does not name its tokens as agreed. Is baseUrl its address?');

function otherToken({ token, decimals }: NamedToken, address: bigint | undefined): Token {
  if (token !== 'OTHER')
    refuse(`${token} is no token of this network; pass token OTHER with tokenAddress and decimals`);
  if (address === undefined || decimals === undefined) refuse('token OTHER needs tokenAddress and decimals');
  if (!isDecimals(decimals)) refuse(`decimals must be a whole number from 0 to ${MAX_DECIMALS}`);
  return { address, decimals };
}

const isDecimals = (value: number) => Number.isInteger(value) && value >= 0 && value <= MAX_DECIMALS;

function refuse(reason: string): never {
  throw new SvcInputError('invalid_input', `${reason}.`);
}
