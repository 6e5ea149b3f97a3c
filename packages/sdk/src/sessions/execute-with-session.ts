import { starkKey, toHex } from '@svc/starknet';
import type { BearerToken, Client } from '../client/client.ts';
import { SvcSessionError } from '../client/errors.ts';
import { readAddress, readInteger, type SvcWallet } from '../client/input.ts';
import { openKey } from '../keys/seal.ts';
import { type ContractCall, prepareCalls, sendSignedCalls, signExecution, toCalls } from '../signing/calls.ts';
import { checkSession, wasRevoked } from './on-chain-session.ts';
import { readSessionKey, refuseOtherThanSvc, type Session, sessionError, toSessionError } from './session-wallet.ts';

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
