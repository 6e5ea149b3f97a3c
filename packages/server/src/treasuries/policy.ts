import {
  ApiError,
  type BodyOf,
  type ChainToken,
  type Environment,
  type endpoints,
  formatTokenAmount,
  parseTokenAmount,
  type TreasuryLimit,
} from '@svc/protocol';
import {
  type Call,
  encodeSetLimit,
  encodeSetSigners,
  isPublicKey,
  selector,
  type TreasuryTerms,
  toHex,
} from '@svc/starknet';
import type { Networks } from '../chains/networks.ts';
import { readFelt, refuse } from '../http/validation.ts';

export interface PolicySigner {
  readonly name: string;
  /** Hexadecimal, without leading zeros. */
  readonly publicKey: string;
  readonly email: string | null;
}

export interface PolicyLimit {
  readonly token: ChainToken;
  readonly address: string;
  readonly threshold: number;
  /** Raw, as decimal text. */
  readonly amount: string;
  readonly windowSeconds: number;
}

/** As stored with the treasury. */
export interface Policy {
  readonly threshold: number;
  readonly signers: readonly PolicySigner[];
  readonly limits: readonly PolicyLimit[];
}

type PolicyBody = Pick<BodyOf<typeof endpoints.createTreasury>, 'signers' | 'threshold' | 'limits'>;
type Tokens = Pick<Networks, 'token'>;

/** Refuses what the contract refuses, with a reason that people understand. */
export function readPolicy(networks: Tokens, environment: Environment, body: PolicyBody): Policy {
  const { threshold } = body;
  const policy = {
    threshold,
    signers: body.signers.map(({ name, publicKey, email = null }, index) => ({
      name,
      publicKey: toHex(readFelt(publicKey, `body.signers[${index}].publicKey`)),
      email,
    })),
    limits: (body.limits ?? []).map((limit, index) => readLimit(networks, environment, limit, index)),
  };
  requireWorking(policy);
  return policy;
}

function readLimit(networks: Tokens, environment: Environment, limit: TreasuryLimit, index: number): PolicyLimit {
  const { token, threshold, windowSeconds } = limit;
  const { address, decimals } = requireToken(networks, environment, token);
  const amount = parseTokenAmount(limit.amount, decimals);
  if (!amount.ok) refuse(`body.limits[${index}].amount`, amount.reason);
  return { token, address, threshold, amount: String(amount.value), windowSeconds };
}

export function requireToken(networks: Tokens, environment: Environment, token: ChainToken) {
  const found = networks.token(environment, 'STARKNET', token);
  if (!found?.address) throw new ApiError('token_not_supported', `${token} is not on Starknet.`);
  return { address: found.address, decimals: found.decimals };
}

function requireWorking({ signers, threshold, limits }: Policy): void {
  const keys = signers.map(({ publicKey }) => publicKey);
  const repeated = keys.find((key, index) => keys.indexOf(key) !== index);
  if (repeated) invalid(`${repeated} is listed twice.`);
  const wrong = keys.find((key) => !isPublicKey(BigInt(key)));
  if (wrong) invalid(`${wrong} is no public key of the Stark curve, so it could never sign.`);
  if (threshold > keys.length) invalid(`${threshold} signatures are needed, and there are ${keys.length} signers.`);
  const tokens = limits.map(({ token }) => token);
  const twice = tokens.find((token, index) => tokens.indexOf(token) !== index);
  if (twice) invalid(`${twice} has two limits.`);
  for (const limit of limits) {
    if (limit.threshold >= threshold) invalid(`The limit of ${limit.token} must need fewer than ${threshold} signers.`);
    if (BigInt(limit.amount) === 0n) invalid(`The limit of ${limit.token} must be above zero.`);
  }
}

function invalid(message: string): never {
  throw new ApiError('invalid_treasury_policy', message);
}

export function termsOf({ signers, threshold, limits }: Policy): TreasuryTerms {
  return { signers: signers.map(({ publicKey }) => BigInt(publicKey)), threshold, limits: limits.map(limitTerms) };
}

function limitTerms({ address, threshold, amount, windowSeconds }: PolicyLimit) {
  return {
    token: BigInt(address),
    threshold,
    maxPerWindow: BigInt(amount),
    windowSeconds: BigInt(windowSeconds),
  };
}

export function shownLimits(networks: Tokens, environment: Environment, { limits }: Policy): TreasuryLimit[] {
  return limits.map(({ token, threshold, amount, windowSeconds }) => {
    const { decimals } = requireToken(networks, environment, token);
    return { token, threshold, amount: formatTokenAmount(BigInt(amount), decimals), windowSeconds };
  });
}

/** The treasury's calls to itself that lead from one policy to another. Names and e-mail addresses are not on the chain. */
export function policyCalls(account: bigint, from: Policy, to: Policy): Call[] {
  const own = (name: string, calldata: readonly bigint[]): Call => ({
    to: account,
    selector: selector(name),
    calldata,
  });
  const signersOf = (policy: Policy) => encodeSetSigners(termsOf(policy));
  const signers = String(signersOf(from)) === String(signersOf(to)) ? [] : [own('set_signers', signersOf(to))];
  const set = to.limits.filter((limit) => !from.limits.some((known) => isSameLimit(known, limit)));
  const removed = from.limits.filter(({ address }) => !to.limits.some((limit) => limit.address === address));
  return [
    ...signers,
    ...removed.map(({ address }) => own('remove_limit', [BigInt(address)])),
    ...set.map((limit) => own('set_limit', encodeSetLimit(limitTerms(limit)))),
  ];
}

function isSameLimit(one: PolicyLimit, other: PolicyLimit): boolean {
  return String(encodeSetLimit(limitTerms(one))) === String(encodeSetLimit(limitTerms(other)));
}

const TRANSFER = selector('transfer');
const TRANSFER_FELTS = 3;

/** How many signers are enough, as the contract counts. What a window has left shows when it is executed. */
export function requiredSignatures({ threshold, limits }: Policy, calls: readonly Call[]): number {
  const spent = new Map<bigint, bigint>();
  let required = 0;
  for (const { to, selector: called, calldata } of calls) {
    const limit = limits.find(({ address }) => BigInt(address) === to);
    if (!limit || called !== TRANSFER || calldata.length !== TRANSFER_FELTS) return threshold;
    const [, low = 0n, high = 0n] = calldata;
    const sum = (spent.get(to) ?? 0n) + low + (high << 128n);
    if (sum > BigInt(limit.amount)) return threshold;
    spent.set(to, sum);
    required = Math.max(required, limit.threshold);
  }
  return required === 0 ? threshold : Math.min(required, threshold);
}
