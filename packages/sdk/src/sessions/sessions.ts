import { encodeSessionKey, starkKey, toHex } from '@svc/starknet';
import type { BearerToken, Client } from '../client/client.ts';
import { SvcInputError, SvcKeyError, SvcSessionError } from '../client/errors.ts';
import { requireBearerToken } from '../client/request.ts';
import { readAddress, readInteger, type SvcWallet } from '../client/values.ts';
import { newPrivateKey } from '../keys/cipher.ts';
import { openKey, sealKey } from '../keys/seal.ts';
import { chainTime } from '../node/rpc.ts';
import { type ContractCall, prepareCalls, sendSignedCalls, signExecution, toCalls } from '../signing/calls.ts';
import { checkSession, readOnChainSession, wasRevoked } from './on-chain-session.ts';
import {
  addSessionKeyCall,
  executeAsOwner,
  type OwnerParams,
  readSessionConfig,
  readSessionKey,
  readSpendingPolicy,
  refuseOtherThanSvc,
  requireAtomicPolicyClass,
  requireSessionClass,
  requireTimeAhead,
  type Session,
  type SessionConfig,
  type SpendingLimits,
  sessionError,
  setSpendingPolicyCall,
  toSessionError,
} from './session-wallet.ts';

export interface CreateSessionKeyParams {
  /** Encrypts the session's key; it may differ from the wallet's. */
  readonly encryptKey: string;
  /** Default: 21600, six hours. */
  readonly durationSeconds?: number | undefined;
}

const DURATION_SECONDS = 21_600;
/** Ten years; more is most likely a mistake in the unit. */
const MAX_DURATION_SECONDS = 315_360_000n;

/**
 * Creates a session key on this device. Nothing is sent: `addSessionKeyToContract` or `setupSession` registers it
 * with the wallet. The service never stores it.
 *
 * @example
 * const session = await svc.sessions.createSessionKey({ encryptKey, durationSeconds: 3600 });
 */
export async function createSessionKey(
  { runtime }: Client,
  { encryptKey, durationSeconds = DURATION_SECONDS }: CreateSessionKeyParams,
): Promise<Session> {
  const duration = readInteger('durationSeconds', durationSeconds, { min: 1n, max: MAX_DURATION_SECONDS });
  const validUntil = Math.floor(runtime.now() / 1_000) + Number(duration);
  try {
    const privateKey = newPrivateKey(runtime);
    const publicKey = starkKey(privateKey);
    const encryptedPrivateKey = await sealKey({ privateKey, boundTo: publicKey, encryptKeys: [encryptKey] }, runtime);
    return { publicKey: toHex(publicKey), encryptedPrivateKey, validUntil };
  } catch (error) {
    // An unusable encryptKey has an error of its own.
    if (error instanceof SvcKeyError) throw error;
    // Without the cause, which could contain the key.
    throw sessionError('SESSION_CREATION_FAILED');
  }
}

export interface AddSessionKeyParams extends OwnerParams {
  readonly sessionConfig: SessionConfig;
}

/**
 * Registers a session key with the wallet, or replaces the expiry, calls and entrypoints of a registered one. Signed
 * by the owner; the service pays the gas. Needs a bearer token. Returns the transaction's hash; the key works once
 * that transaction is accepted.
 *
 * @example
 * const session = await svc.sessions.createSessionKey({ encryptKey });
 * const transactionHash = await svc.sessions.addSessionKeyToContract(
 *   {
 *     encryptKey,
 *     wallet,
 *     sessionConfig: {
 *       sessionPublicKey: session.publicKey,
 *       validUntil: session.validUntil,
 *       maxCalls: 10,
 *       allowedEntrypoints: ['transfer'],
 *     },
 *   },
 *   bearerToken,
 * );
 */
export async function addSessionKeyToContract(
  client: Client,
  { encryptKey, wallet, sessionConfig }: AddSessionKeyParams,
  bearerToken?: BearerToken,
): Promise<string> {
  refuseOtherThanSvc(wallet);
  const ownToken = requireBearerToken(client, bearerToken);
  const session = readSessionConfig(sessionConfig);
  await requireSessionClass(client, wallet);
  await requireTimeAhead(client, session.validUntil);
  const calls = [addSessionKeyCall(wallet.publicKey, session)];
  return executeAsOwner(client, { encryptKey, wallet, calls }, ownToken);
}

export interface SetupSessionParams extends OwnerParams {
  readonly sessionConfig: SessionConfig;
  /** One per limited token; tokens not listed are unlimited. */
  readonly spendingPolicies?: readonly SpendingLimits[] | undefined;
}

/** The service limits the calls of one transaction. */
const MAX_POLICIES = 20;

/**
 * Registers a session key with its spending policies: one signature of the owner, one transaction. The policies come
 * first, so that the key never works without them. Needs a bearer token. Returns the transaction's hash.
 *
 * Wallets of an earlier class skip a call that fails; with policies they are refused
 * (`SPENDING_POLICIES_UNSUPPORTED`). Upgrade them, or call `setSpendingPolicy` for each token, wait until it is
 * accepted, and then `addSessionKeyToContract`.
 *
 * @example
 * const session = await svc.sessions.createSessionKey({ encryptKey });
 * const transactionHash = await svc.sessions.setupSession(
 *   {
 *     encryptKey,
 *     wallet,
 *     sessionConfig: {
 *       sessionPublicKey: session.publicKey,
 *       validUntil: session.validUntil,
 *       maxCalls: 10,
 *       allowedEntrypoints: ['transfer'],
 *     },
 *     spendingPolicies: [
 *       { token: tokenAddress, maxPerCall: 5_000_000n, maxPerWindow: 20_000_000n, windowSeconds: 86_400 },
 *     ],
 *   },
 *   bearerToken,
 * );
 */
export async function setupSession(
  client: Client,
  { encryptKey, wallet, sessionConfig, spendingPolicies = [] }: SetupSessionParams,
  bearerToken?: BearerToken,
): Promise<string> {
  refuseOtherThanSvc(wallet);
  const ownToken = requireBearerToken(client, bearerToken);
  const session = readSessionConfig(sessionConfig);
  const policies = readPolicies(sessionConfig.sessionPublicKey, spendingPolicies);
  await (policies.length > 0 ? requireAtomicPolicyClass : requireSessionClass)(client, wallet);
  await requireTimeAhead(client, session.validUntil);
  const calls = [
    ...policies.map((policy) => setSpendingPolicyCall(wallet.publicKey, policy)),
    addSessionKeyCall(wallet.publicKey, session),
  ];
  return executeAsOwner(client, { encryptKey, wallet, calls }, ownToken);
}

function readPolicies(sessionPublicKey: string, limits: readonly SpendingLimits[]) {
  const policies = limits.map((one) => readSpendingPolicy({ ...one, sessionPublicKey }));
  const tokens = new Set(policies.map(({ token }) => token));
  if (tokens.size === policies.length && policies.length <= MAX_POLICIES) return policies;
  throw new SvcInputError('invalid_input', `spendingPolicies must name each token once, and at most ${MAX_POLICIES}.`);
}

export interface RevokeSessionKeyParams extends OwnerParams {
  readonly sessionPublicKey: string;
}

/**
 * Revokes a session key. Signed by the owner; the service pays the gas. Needs a bearer token. Once the transaction is
 * accepted the key signs nothing more. Revoking an unregistered key changes nothing.
 *
 * @example
 * const transactionHash = await svc.sessions.revokeSessionKey(
 *   { encryptKey, wallet, sessionPublicKey: session.publicKey },
 *   bearerToken,
 * );
 */
export async function revokeSessionKey(
  client: Client,
  { encryptKey, wallet, sessionPublicKey }: RevokeSessionKeyParams,
  bearerToken?: BearerToken,
): Promise<string> {
  refuseOtherThanSvc(wallet);
  const ownToken = requireBearerToken(client, bearerToken);
  const calldata = encodeSessionKey(readSessionKey(sessionPublicKey));
  await requireSessionClass(client, wallet);
  const calls = [{ contractAddress: wallet.publicKey, entrypoint: 'revoke_session_key', calldata }];
  return executeAsOwner(client, { encryptKey, wallet, calls }, ownToken);
}

export interface GetSessionDataParams {
  readonly walletAddress: string;
  readonly sessionPublicKey: string;
}

export interface SessionInfo {
  /** Registered, not revoked, not expired, and with calls left. */
  readonly isActive: boolean;
  /** Unix seconds; 0 for an unregistered key. */
  readonly validUntil: number;
  readonly remainingCalls: number;
  /** Selectors, `0x…`; empty allows all, if active. */
  readonly allowedEntrypoints: readonly string[];
}

/**
 * Reads the state of a session key from the chain. Needs no token.
 *
 * @example
 * const { isActive, remainingCalls } = await svc.sessions.getSessionData({
 *   walletAddress: wallet.publicKey,
 *   sessionPublicKey: session.publicKey,
 * });
 */
export async function getSessionData(
  client: Client,
  { walletAddress, sessionPublicKey }: GetSessionDataParams,
): Promise<SessionInfo> {
  const address = readAddress(walletAddress, 'walletAddress');
  const session = await readOnChainSession(client, address, readSessionKey(sessionPublicKey));
  if (!session) return { isActive: false, validUntil: 0, remainingCalls: 0, allowedEntrypoints: [] };
  const { validUntil, remainingCalls, allowedEntrypoints } = session;
  return {
    isActive: remainingCalls > 0n && validUntil > (await chainTime(client)),
    validUntil: Number(validUntil),
    remainingCalls: Number(remainingCalls),
    allowedEntrypoints: allowedEntrypoints.map(toHex),
  };
}

export interface ExecuteTransactionWithSessionParams {
  /** Opens the session's key. */
  readonly encryptKey: string;
  /** The wallet's own key is not needed. */
  readonly wallet: Pick<SvcWallet, 'publicKey' | 'walletType'>;
  readonly session: Session;
  readonly calls: readonly ContractCall[];
}

/** Any value that `BigInt` accepts; the chain decides its meaning. */
const ANY_TIME = { min: 0n, max: BigInt(Number.MAX_SAFE_INTEGER) };

/**
 * Executes calls of the wallet, signed by a session key instead of the owner. The service pays the gas. Calls that
 * the session does not allow throw `SvcSessionError` before anything is sent. Returns the transaction's hash.
 *
 * An unregistered key throws `SESSION_REVOKED` if the chain has its revocation event, `SESSION_EXPIRED` if its time
 * has passed, and else `SESSION_NOT_REGISTERED`. A violated spending policy throws `SvcApiError`
 * `transaction_reverted` with the wallet's reason (`Spending: exceeds per-call`) in its message.
 *
 * @example
 * const transactionHash = await svc.executeTransactionWithSession({
 *   encryptKey,
 *   wallet,
 *   session,
 *   calls: [{ contractAddress: tokenAddress, entrypoint: 'transfer', calldata: [recipient, 1000, 0] }],
 * });
 */
export async function executeTransactionWithSession(
  client: Client,
  params: ExecuteTransactionWithSessionParams,
  bearerToken?: BearerToken,
): Promise<string> {
  const { wallet, session, calls } = params;
  refuseOtherThanSvc(wallet);
  readInteger('validUntil of the session', session.validUntil, ANY_TIME);
  const walletAddress = readAddress(wallet.publicKey, 'publicKey of the wallet');
  const sessionKey = readSessionKey(session.publicKey);
  const check = { walletAddress, sessionKey, validUntil: session.validUntil, calls: toCalls(calls) };
  // From the chain: the wallet compares it, and the app may have stored another value.
  const { validUntil } = await checkSession(client, check);
  try {
    return await signAndSend(client, params, { walletAddress, sessionKey, validUntil }, bearerToken);
  } catch (error) {
    throw await explain(client, check, error);
  }
}

interface Signer {
  readonly walletAddress: bigint;
  readonly sessionKey: bigint;
  readonly validUntil: bigint;
}

async function signAndSend(
  client: Client,
  { encryptKey, wallet, session, calls }: ExecuteTransactionWithSessionParams,
  { walletAddress, sessionKey, validUntil }: Signer,
  bearerToken?: BearerToken,
): Promise<string> {
  const toPrepare = { walletAddress: wallet.publicKey, calls, walletType: wallet.walletType };
  const { execution, typedData, chainId } = await prepareCalls(client, toPrepare, bearerToken);
  const envelope = session.encryptedPrivateKey;
  const privateKey = await openKey({ envelope, encryptKey, boundTo: sessionKey });
  if (starkKey(privateKey) !== sessionKey) throw sessionError('SESSION_DECRYPTION_FAILED');
  const { r, s } = signExecution(execution, { account: walletAddress, chainId, privateKey });
  const userSignature = [toHex(sessionKey), r, s, toHex(validUntil)];
  const signed = { publicKey: wallet.publicKey, typedData, userSignature, isSessionSignature: true };
  return sendSignedCalls(client, signed, bearerToken);
}

/** The session may have ended between the check and the execution. */
async function explain(client: Client, check: { walletAddress: bigint; sessionKey: bigint }, error: unknown) {
  const explained = toSessionError(error);
  const unknown = explained instanceof SvcSessionError && explained.code === 'SESSION_NOT_REGISTERED';
  if (!unknown || !(await wasRevoked(client, check.walletAddress, check.sessionKey))) return explained;
  return sessionError('SESSION_REVOKED', { cause: error });
}
