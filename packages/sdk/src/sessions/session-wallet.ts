import {
  encodeAddOrUpdateSessionKey,
  encodeSetSpendingPolicy,
  parseFelt,
  type SessionKey,
  type SpendingPolicy,
  toHex,
  type WalletClass,
  walletClass,
} from '@svc/starknet';
import type { BearerToken, Client } from '../client/client.ts';
import { SvcApiError, SvcChainError, SvcInputError, SvcKeyError, SvcSessionError } from '../client/errors.ts';
import { type Integer, readAddress, readInteger, type SvcWallet } from '../client/values.ts';
import { callContract, chainTime, classHashAt } from '../node/rpc.ts';
import { type ContractCall, executeCalls, readEntrypoint } from '../signing/calls.ts';

type TypedWallet = Pick<SvcWallet, 'publicKey' | 'walletType'>;

/** By the declared type, without a request. */
export function refuseOtherThanSvc({ walletType = 'SVC' }: TypedWallet): void {
  if (walletType !== 'SVC') throw sessionError('INVALID_WALLET_TYPE_FOR_SESSION');
}

/** SHHH wallets have policies too. */
export function refuseWithoutPolicies({ walletType = 'SVC' }: TypedWallet): void {
  if (walletType !== 'SVC' && walletType !== 'SHHH') throw sessionError('INVALID_WALLET_TYPE_FOR_SESSION');
}

/** By the class on the chain. Undeployed wallets and custom classes are left to the chain. */
export async function requireSessionClass(client: Client, wallet: TypedWallet): Promise<void> {
  const known = await knownClass(client, readAddress(wallet.publicKey, 'publicKey of the wallet'));
  if (known && !known.sessions) throw sessionError('INVALID_WALLET_TYPE_FOR_SESSION');
}

/**
 * An earlier class skips calls of functions that it lacks and reports success, so the app would rely on a limit that
 * does not exist. Unknown classes are asked.
 */
export async function requirePolicyClass(client: Client, wallet: TypedWallet): Promise<WalletClass | undefined> {
  const address = readAddress(wallet.publicKey, 'publicKey of the wallet');
  const known = await knownClass(client, address);
  if (known && !known.sessions) throw sessionError('INVALID_WALLET_TYPE_FOR_SESSION');
  if (known ? !known.policies : !(await hasPolicies(client, address)))
    throw sessionError('SPENDING_POLICIES_UNSUPPORTED');
  return known;
}

/** A class that skips failing calls could register a key without its limit. */
export async function requireAtomicPolicyClass(client: Client, wallet: TypedWallet): Promise<void> {
  const known = await requirePolicyClass(client, wallet);
  if (!known || known.atomicMulticall) return;
  const message =
    'A wallet of this class may skip a policy and register the key all the same. Upgrade it first (prepareWalletUpgrade, then executeWalletUpgrade), or call setSpendingPolicy, wait until it is accepted, and then addSessionKeyToContract.';
  throw sessionError('SPENDING_POLICIES_UNSUPPORTED', { message });
}

async function knownClass(client: Client, address: bigint): Promise<WalletClass | undefined> {
  const classHash = await classHashAt(client, address);
  return classHash === undefined ? undefined : walletClass(classHash);
}

/** Any key and token: tests whether the function exists. */
async function hasPolicies(client: Client, contractAddress: bigint): Promise<boolean> {
  try {
    await callContract(client, { contractAddress, entrypoint: 'get_spending_policy', calldata: [1n, 1n] });
    return true;
  } catch (error) {
    if (!(error instanceof SvcChainError)) throw error;
    if (error.code === 'entrypoint_not_found') return false;
    if (error.code !== 'contract_not_found') throw error;
    const message = `The wallet ${toHex(contractAddress)} is not deployed yet. Wait for its creation, then set the policy.`;
    throw new SvcChainError('contract_not_found', message, { cause: error });
  }
}

const messages = {
  INVALID_WALLET_TYPE_FOR_SESSION: 'Session keys need a wallet of type SVC.',
  SESSION_EXPIRED: 'The time of the session is over. Make a new session key and register it.',
  SESSION_NOT_REGISTERED:
    'The wallet does not know this session key. If it was registered just now, wait for that transaction first.',
  SESSION_REVOKED: 'The session key was revoked. Make a new one and register it.',
  SESSION_MAX_CALLS_EXCEEDED: 'The session has no calls left. The owner can register it again with new ones.',
  SESSION_ENTRYPOINT_NOT_ALLOWED: 'The session may not call this function.',
  SESSION_DECRYPTION_FAILED: 'The private key could not be opened. Is the PIN (encryptKey) right?',
  SESSION_CREATION_FAILED: 'The session key could not be made.',
  SPENDING_POLICIES_UNSUPPORTED:
    'The class of this wallet has no spending policies. Upgrade the wallet first: prepareWalletUpgrade, then executeWalletUpgrade.',
} as const satisfies Record<SvcSessionError['code'], string>;

export interface SessionErrorOptions extends ErrorOptions {
  /** Replaces the default message. */
  readonly message?: string;
}

export function sessionError(code: SvcSessionError['code'], options: SessionErrorOptions = {}): SvcSessionError {
  return new SvcSessionError(code, options.message ?? messages[code], options);
}

/** Revert reasons of the wallet contract. */
const REVERTS: readonly (readonly [string, SvcSessionError['code']])[] = [
  ['Session: expired', 'SESSION_EXPIRED'],
  ['Session: not registered', 'SESSION_NOT_REGISTERED'],
  ['Session: no calls left', 'SESSION_MAX_CALLS_EXCEEDED'],
  ['Session: entrypoint not allowed', 'SESSION_ENTRYPOINT_NOT_ALLOWED'],
];

/** Maps known errors to `SvcSessionError`; others stay. */
export function toSessionError(error: unknown): unknown {
  if (error instanceof SvcKeyError && error.code === 'decryption_failed') {
    return sessionError('SESSION_DECRYPTION_FAILED', { cause: error });
  }
  if (!(error instanceof SvcApiError) || error.code !== 'transaction_reverted') return error;
  const known = REVERTS.find(([reason]) => error.message.includes(reason));
  return known ? sessionError(known[1], { cause: error }) : error;
}

export interface OwnerParams {
  /** Opens the wallet's key. */
  readonly encryptKey: string;
  readonly wallet: SvcWallet;
}

/** Executes calls that only the wallet's owner may sign. */
export async function executeAsOwner(
  client: Client,
  { encryptKey, wallet, calls }: OwnerParams & { readonly calls: readonly ContractCall[] },
  bearerToken: BearerToken,
): Promise<string> {
  try {
    return await executeCalls(client, { wallet, encryptKey, calls }, bearerToken);
  } catch (error) {
    throw toSessionError(error);
  }
}

/** Zero is not a valid key. */
export function readSessionKey(text: string): bigint {
  const felt = typeof text === 'string' ? parseFelt(text) : undefined;
  if (felt?.ok && felt.value !== 0n) return felt.value;
  throw new SvcInputError(
    'invalid_input',
    'sessionPublicKey must be the publicKey of a session: 0x and hexadecimal digits.',
  );
}

export interface SessionConfig {
  readonly sessionPublicKey: string;
  /** Unix seconds. */
  readonly validUntil: number;
  /** Number of transactions it may sign; a transaction counts once, with any number of calls. */
  readonly maxCalls: number;
  /** Functions by name or selector (`0x…`). An empty array allows all except those that change the wallet itself. */
  readonly allowedEntrypoints: readonly string[];
}

/** Catches milliseconds: as seconds this is the year 5138. */
const MAX_VALID_UNTIL = 100_000_000_000n;
/** The contract's u32. */
const MAX_CALLS = 2n ** 32n - 1n;
/** Each entry costs storage on the chain; apps need a handful. */
const MAX_ENTRYPOINTS = 100;

export function readSessionConfig(config: SessionConfig): SessionKey {
  const { allowedEntrypoints } = config;
  if (!Array.isArray(allowedEntrypoints) || allowedEntrypoints.length > MAX_ENTRYPOINTS) {
    throw new SvcInputError(
      'invalid_input',
      `allowedEntrypoints must be an array of at most ${MAX_ENTRYPOINTS} functions; an empty one allows all.`,
    );
  }
  return {
    sessionKey: readSessionKey(config.sessionPublicKey),
    validUntil: readInteger('validUntil (Unix seconds)', config.validUntil, { min: 1n, max: MAX_VALID_UNTIL }),
    maxCalls: readInteger('maxCalls', config.maxCalls, { min: 1n, max: MAX_CALLS }),
    allowedEntrypoints: [...new Set(allowedEntrypoints.map(readEntrypoint))],
  };
}

export function addSessionKeyCall(walletAddress: string, session: SessionKey): ContractCall {
  return {
    contractAddress: walletAddress,
    entrypoint: 'add_or_update_session_key',
    calldata: encodeAddOrUpdateSessionKey(session),
  };
}

/** Limits for one token, in its smallest unit. */
export interface SpendingLimits {
  /** The token's address. */
  readonly token: string;
  readonly maxPerCall: bigint | string;
  readonly maxPerWindow: bigint | string;
  /** A window starts with the first spending after the last one ended. */
  readonly windowSeconds: Integer;
}

export interface SpendingPolicyConfig extends SpendingLimits {
  readonly sessionPublicKey: string;
}

const U256 = { min: 0n, max: 2n ** 256n - 1n };
/** The contract uses a window of 0 for "no policy". */
const WINDOW = { min: 1n, max: 2n ** 64n - 1n };

export function readSpendingPolicy(config: SpendingPolicyConfig): SpendingPolicy {
  return {
    sessionKey: readSessionKey(config.sessionPublicKey),
    token: readAddress(config.token, 'token'),
    maxPerCall: readInteger('maxPerCall', config.maxPerCall, U256),
    maxPerWindow: readInteger('maxPerWindow', config.maxPerWindow, U256),
    windowSeconds: readInteger('windowSeconds', config.windowSeconds, WINDOW),
  };
}

export function setSpendingPolicyCall(walletAddress: string, policy: SpendingPolicy): ContractCall {
  return {
    contractAddress: walletAddress,
    entrypoint: 'set_spending_policy',
    calldata: encodeSetSpendingPolicy(policy),
  };
}

/** The contract rejects a past time; earlier classes report that as success. */
export async function requireTimeAhead(client: Client, validUntil: bigint): Promise<void> {
  if (validUntil <= (await chainTime(client))) throw sessionError('SESSION_EXPIRED');
}

/** A session key from `createSessionKey`. Your app stores it; the service does not. */
export interface Session {
  /** On the Stark curve, `0x…`. */
  readonly publicKey: string;
  /** Opened by the `encryptKey` it was created with. */
  readonly encryptedPrivateKey: string;
  /** Unix seconds. */
  readonly validUntil: number;
}
