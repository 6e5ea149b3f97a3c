import { type Call, selector } from '@svc/starknet';
import type { Client } from '../client/client.ts';
import { chainTime } from '../node/chain-time.ts';
import { type OnChainSession, readOnChainSession } from './read-on-chain-session.ts';
import { sessionError } from './session-errors.ts';
import { wasRevoked } from './was-revoked.ts';

export interface SessionToCheck {
  readonly walletAddress: bigint;
  readonly sessionKey: bigint;
  /** As the app remembers it: Unix seconds. */
  readonly validUntil: number;
  readonly calls: readonly Call[];
}

/** What a session may call on no contract, whatever its list says. */
const OWNER_ENTRYPOINTS = [
  'upgrade',
  'add_or_update_session_key',
  'revoke_session_key',
  'set_spending_policy',
  'remove_spending_policy',
  '__execute__',
  'execute_from_outside_v2',
  'set_public_key',
];

/** The session as the wallet has it, provided that it may make these calls now. Asked before anything is signed or sent. */
export async function checkSession(client: Client, asked: SessionToCheck): Promise<OnChainSession> {
  const { walletAddress, sessionKey, calls } = asked;
  const [session, now] = await Promise.all([readOnChainSession(client, walletAddress, sessionKey), chainTime(client)]);
  if (!session) throw await whyUnknown(client, asked, now);
  if (session.validUntil <= now) throw sessionError('SESSION_EXPIRED');
  if (session.remainingCalls === 0n) throw sessionError('SESSION_MAX_CALLS_EXCEEDED');
  if (!calls.every((call) => isAllowed(call, walletAddress, session))) {
    throw sessionError('SESSION_ENTRYPOINT_NOT_ALLOWED');
  }
  return session;
}

/** Of a key that the wallet does not know: its time may be over, or the owner took it back. */
async function whyUnknown(client: Client, { walletAddress, sessionKey, validUntil }: SessionToCheck, now: bigint) {
  if (await wasRevoked(client, walletAddress, sessionKey)) return sessionError('SESSION_REVOKED');
  return sessionError(BigInt(validUntil) <= now ? 'SESSION_EXPIRED' : 'SESSION_NOT_REGISTERED');
}

function isAllowed(call: Call, walletAddress: bigint, { allowedEntrypoints }: OnChainSession): boolean {
  if (call.to === walletAddress) return false;
  if (OWNER_ENTRYPOINTS.some((name) => selector(name) === call.selector)) return false;
  return allowedEntrypoints.length === 0 || allowedEntrypoints.includes(call.selector);
}
