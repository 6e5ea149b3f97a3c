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
import { type Integer, readAddress, readInteger, type SvcWallet } from '../client/input.ts';
import { callContract, chainTime, classHashAt } from '../node/reads.ts';
import { type ContractCall, executeCalls, readEntrypoint } from '../signing/calls.ts';

type TypedWallet = Pick<SvcWallet, 'publicKey' | 'walletType'>;

/** Refuses a type that says by itself that it has no sessions; nothing is asked of anyone. */
export function refuseOtherThanSvc({ walletType = 'SVC' }: TypedWallet): void {
  if (walletType !== 'SVC') throw sessionError('INVALID_WALLET_TYPE_FOR_SESSION');
}

/** Policies are there for SHHH wallets too. */
export function refuseWithoutPolicies({ walletType = 'SVC' }: TypedWallet): void {
  if (walletType !== 'SVC' && walletType !== 'SHHH') throw sessionError('INVALID_WALLET_TYPE_FOR_SESSION');
}

/** The class on the chain has the last word. One that is not deployed yet, or of the app's own, is left to the chain. */
export async function requireSessionClass(client: Client, wallet: TypedWallet): Promise<void> {
  const known = await knownClass(client, readAddress(wallet.publicKey, 'publicKey of the wallet'));
  if (known && !known.sessions) throw sessionError('INVALID_WALLET_TYPE_FOR_SESSION');
}

/**
 * An earlier class without policies skips a call that it does not have and reports success: the app would believe in a limit that
 * is not there. So the class is looked at first, and one that is not in the table is asked.
 */
export async function requirePolicyClass(client: Client, wallet: TypedWallet): Promise<WalletClass | undefined> {
  const address = readAddress(wallet.publicKey, 'publicKey of the wallet');
  const known = await knownClass(client, address);
  if (known && !known.sessions) throw sessionError('INVALID_WALLET_TYPE_FOR_SESSION');
  if (known ? !known.policies : !(await hasPolicies(client, address)))
    throw sessionError('SPENDING_POLICIES_UNSUPPORTED');
  return known;
}

/** A class that skips a call that fails could register a key whose limit it has skipped. */
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

/** Any key and token do: what is asked is whether the function is there. */
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

/** What each code means to whoever reads it. One place, whether the library or the chain noticed. */
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
  /** Said in place of the usual sentence. */
  readonly message?: string;
}

export function sessionError(code: SvcSessionError['code'], options: SessionErrorOptions = {}): SvcSessionError {
  return new SvcSessionError(code, options.message ?? messages[code], options);
}

/** The words of the wallet contract. */
const REVERTS: readonly (readonly [string, SvcSessionError['code']])[] = [
  ['Session: expired', 'SESSION_EXPIRED'],
  ['Session: not registered', 'SESSION_NOT_REGISTERED'],
  ['Session: no calls left', 'SESSION_MAX_CALLS_EXCEEDED'],
  ['Session: entrypoint not allowed', 'SESSION_ENTRYPOINT_NOT_ALLOWED'],
];

/** The session error in what a session's operation ran into, where it is one; anything else as it is. */
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

/** Executes calls on the wallet itself, which its owner alone may sign. */
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

/** The public key of a session by its value. Zero is nobody's. */
export function readSessionKey(text: string): bigint {
  const felt = typeof text === 'string' ? parseFelt(text) : undefined;
  if (felt?.ok && felt.value !== 0n) return felt.value;
  throw new SvcInputError(
    'invalid_input',
    'sessionPublicKey must be the publicKey of a session: 0x and hexadecimal digits.',
  );
}

/** What a session key may do. */
export interface SessionConfig {
  readonly sessionPublicKey: string;
  /** Unix seconds. */
  readonly validUntil: number;
  /** How many transactions it may sign; one counts once, however many calls it bundles. */
  readonly maxCalls: number;
  /** Functions by name or selector (`0x…`). An empty array allows all but those that change the wallet itself. */
  readonly allowedEntrypoints: readonly string[];
}

/** Milliseconds by mistake would make a session for thousands of years; seconds reach this bound in the year 5138. */
const MAX_VALID_UNTIL = 100_000_000_000n;
/** The contract's u32. */
const MAX_CALLS = 2n ** 32n - 1n;
/** Each is stored on the chain and paid for; apps name a handful. */
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

/** How much of one token may be spent. Amounts are raw, in the token's smallest unit. */
export interface SpendingLimits {
  /** The token's address. */
  readonly token: string;
  readonly maxPerCall: bigint | string;
  readonly maxPerWindow: bigint | string;
  /** A window opens with the first spending after the last one ended. */
  readonly windowSeconds: Integer;
}

export interface SpendingPolicyConfig extends SpendingLimits {
  readonly sessionPublicKey: string;
}

const U256 = { min: 0n, max: 2n ** 256n - 1n };
/** A window of no seconds is how the contract says that there is no policy. */
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

/** The contract refuses a time that has passed, and an earlier class reports even that as success. */
export async function requireTimeAhead(client: Client, validUntil: bigint): Promise<void> {
  if (validUntil <= (await chainTime(client))) throw sessionError('SESSION_EXPIRED');
}

/** A session key as `createSessionKey` makes it. Keep it where your app keeps its own things: the service does not store it. */
export interface Session {
  /** On the Stark curve, `0x…`. */
  readonly publicKey: string;
  /** Opened by the `encryptKey` that it was made with. */
  readonly encryptedPrivateKey: string;
  /** Unix seconds. */
  readonly validUntil: number;
}
