import type { ChainToken } from '@svc/protocol';
import { decodeSetLimit, decodeSetSigners, liveTokens, selector, toHex } from '@svc/starknet';
import type { Client } from './client/client.ts';
import { getConfig } from './client/config.ts';
import { readAddress } from './client/values.ts';
import { type ContractCall, toCall } from './signing/calls.ts';
import { chainIdOf } from './signing/check.ts';

/** What a call does, for people. `UNKNOWN`: look at the contract and its data. */
export type DescribedCall =
  | {
      readonly kind: 'TRANSFER' | 'APPROVE';
      readonly token: ChainToken | undefined;
      readonly tokenAddress: string;
      /** Decimal of a known token, else the raw integer. */
      readonly amount: string;
      readonly party: string;
      readonly text: string;
    }
  | {
      readonly kind: 'SET_SIGNERS';
      readonly signers: readonly string[];
      readonly threshold: number;
      readonly text: string;
    }
  | {
      readonly kind: 'SET_LIMIT';
      readonly token: ChainToken | undefined;
      readonly tokenAddress: string;
      readonly amount: string;
      readonly threshold: number;
      readonly windowSeconds: number;
      readonly text: string;
    }
  | {
      readonly kind: 'REMOVE_LIMIT';
      readonly token: ChainToken | undefined;
      readonly tokenAddress: string;
      readonly text: string;
    }
  | { readonly kind: 'UPGRADE'; readonly classHash: string; readonly text: string }
  | {
      readonly kind: 'UNKNOWN';
      readonly contractAddress: string;
      readonly entrypoint: string;
      readonly calldata: readonly string[];
      readonly text: string;
    };

export interface DescribeTreasuryCallsParams {
  readonly treasuryAddress: string;
  readonly calls: readonly ContractCall[];
}

interface Token {
  readonly token: ChainToken;
  readonly address: string | null;
  readonly decimals: number;
}

const names = ['transfer', 'approve', 'set_signers', 'set_limit', 'remove_limit', 'upgrade'] as const;
const bySelector = new Map(names.map((name) => [selector(name), name]));

/**
 * Says what the calls of a proposal do, from their felts alone: show this to a signer, not the proposal's description,
 * which is its proposer's words.
 *
 * @example
 * const [first] = await svc.treasuries.describeTreasuryCalls({ treasuryAddress: treasury.address, calls: proposal.calls });
 * console.log(first.text);
 */
export async function describeTreasuryCalls(
  client: Client,
  { treasuryAddress, calls }: DescribeTreasuryCallsParams,
): Promise<DescribedCall[]> {
  const known = await knownTokens(client);
  const account = readAddress(treasuryAddress, 'treasuryAddress');
  return calls.map((call) => describe(known, account, call));
}

/** On a live network the library's own list and the app's: the service's word is not enough for a name. */
async function knownTokens(client: Client): Promise<readonly Token[]> {
  const pinned = liveTokens(await chainIdOf(client));
  const own = client.trust.tokens.map(({ token, address, decimals }) => ({ token, address: toHex(address), decimals }));
  if (pinned) return [...own, ...pinned.map(([token, address, decimals]) => ({ token, address, decimals }))];
  const { tokens } = await getConfig(client);
  return tokens.filter(({ chain }) => chain === 'STARKNET');
}

function describe(tokens: readonly Token[], account: bigint, call: ContractCall): DescribedCall {
  const { to, selector: called, calldata } = toCall(call);
  const name = bySelector.get(called);
  const found = to === account ? describeOwn(tokens, name, calldata) : describePayment(tokens, name, to, calldata);
  if (found) return found;
  const [contractAddress, entrypoint] = [toHex(to), name ?? toHex(called)];
  return {
    kind: 'UNKNOWN',
    contractAddress,
    entrypoint,
    calldata: calldata.map(toHex),
    text: `Call ${entrypoint} of ${contractAddress}`,
  };
}

function describePayment(
  tokens: readonly Token[],
  name: string | undefined,
  to: bigint,
  calldata: readonly bigint[],
): DescribedCall | undefined {
  if ((name !== 'transfer' && name !== 'approve') || calldata.length !== 3) return undefined;
  const [party = 0n, low = 0n, high = 0n] = calldata;
  if (low >> 128n !== 0n || high >> 128n !== 0n) return undefined;
  const { token, amount, shown } = amountOf(tokens, to, low + (high << 128n));
  const common = { token, tokenAddress: toHex(to), amount, party: toHex(party) };
  return name === 'transfer'
    ? { kind: 'TRANSFER', ...common, text: `Pay ${shown} to ${common.party}` }
    : { kind: 'APPROVE', ...common, text: `Allow ${common.party} to take ${shown}` };
}

function describeOwn(
  tokens: readonly Token[],
  name: string | undefined,
  calldata: readonly bigint[],
): DescribedCall | undefined {
  if (name === 'set_signers') {
    const read = decodeSetSigners(calldata);
    if (!read) return undefined;
    const signers = read.signers.map(toHex);
    const text = `Let ${read.threshold} of ${signers.length} signers approve: ${signers.join(', ')}`;
    return { kind: 'SET_SIGNERS', signers, threshold: read.threshold, text };
  }
  if (name === 'set_limit') {
    const read = decodeSetLimit(calldata);
    if (!read) return undefined;
    const { token, amount, shown } = amountOf(tokens, read.token, read.maxPerWindow);
    const windowSeconds = Number(read.windowSeconds);
    const text = `Let ${read.threshold} signers pay up to ${shown} in ${windowSeconds} seconds`;
    return {
      kind: 'SET_LIMIT',
      token,
      tokenAddress: toHex(read.token),
      amount,
      threshold: read.threshold,
      windowSeconds,
      text,
    };
  }
  const [first] = calldata;
  if (first === undefined || calldata.length !== 1) return undefined;
  if (name === 'remove_limit') {
    const { token } = amountOf(tokens, first, 0n);
    return {
      kind: 'REMOVE_LIMIT',
      token,
      tokenAddress: toHex(first),
      text: `Remove the limit of ${token ?? toHex(first)}`,
    };
  }
  if (name !== 'upgrade') return undefined;
  return { kind: 'UPGRADE', classHash: toHex(first), text: `Change the code of the treasury to ${toHex(first)}` };
}

function amountOf(tokens: readonly Token[], address: bigint, raw: bigint) {
  const known = tokens.find((token) => token.address !== null && BigInt(token.address) === address);
  const amount = known ? decimal(raw, known.decimals) : String(raw);
  return { token: known?.token, amount, shown: `${amount} ${known?.token ?? `units of ${toHex(address)}`}` };
}

function decimal(raw: bigint, decimals: number): string {
  const digits = String(raw).padStart(decimals + 1, '0');
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  const whole = digits.slice(0, digits.length - decimals);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}
