import { requireBearerToken } from '../client/authentication.ts';
import type { BearerToken, Client } from '../client/client.ts';
import { SvcInputError } from '../client/errors.ts';
import { executeAsOwner, type OwnerParams } from './execute-as-owner.ts';
import { refuseOtherThanSvc, requireAtomicPolicyClass, requireSessionClass } from './require-session-wallet.ts';
import { requireTimeAhead } from './require-time-ahead.ts';
import { addSessionKeyCall, readSessionConfig, type SessionConfig } from './session-config.ts';
import { readSpendingPolicy, type SpendingLimits, setSpendingPolicyCall } from './spending-policy-config.ts';

export interface SetupSessionParams extends OwnerParams {
  readonly sessionConfig: SessionConfig;
  /** One for each token that is to be limited; tokens that are not named here are not. */
  readonly spendingPolicies?: readonly SpendingLimits[] | undefined;
}

/** Beside the key's own call; the service takes a bounded number of calls at once, and no session needs more tokens. */
const MAX_POLICIES = 20;

/**
 * Registers a session key together with its spending policies: one signature of the owner, one transaction. The policies come first,
 * so that at no moment the key works without them. Needs a bearer token. Answers the transaction's hash.
 *
 * Wallets of an earlier class skip a call that fails: with policies they are refused (`SPENDING_POLICIES_UNSUPPORTED`). Upgrade them, or
 * call `setSpendingPolicy` for each token, wait until it is accepted, and then `addSessionKeyToContract`.
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
