import { SvcApiError, SvcKeyError, SvcSessionError } from '../client/errors.ts';

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
