import { describe, expect, it } from 'vitest';
import { SvcApiError, SvcInputError, SvcKeyError } from '../client/errors.ts';
import { toSessionError } from './session-wallet.ts';

const reverted = (message: string, code = 'transaction_reverted') => new SvcApiError(code, message, { status: 400 });

describe('an error of a session', () => {
  it.each([
    ['Session: expired', 'SESSION_EXPIRED'],
    ['Session: not registered', 'SESSION_NOT_REGISTERED'],
    ['Session: no calls left', 'SESSION_MAX_CALLS_EXCEEDED'],
    ['Session: entrypoint not allowed', 'SESSION_ENTRYPOINT_NOT_ALLOWED'],
  ])('has its own code if the wallet reverts with %s, and the answer as its cause', (reason, code) => {
    const error = reverted(`The transaction would revert, so it was not sent: 0x53 ('${reason}')`);
    expect(toSessionError(error)).toMatchObject({ name: 'SvcSessionError', code, cause: error });
  });

  it('is a failed decryption if the key does not open', () => {
    const error = new SvcKeyError('decryption_failed', 'No');
    expect(toSessionError(error)).toMatchObject({ code: 'SESSION_DECRYPTION_FAILED', cause: error });
  });

  it.each<[string, unknown]>([
    ['a limit that was passed', reverted("('Spending: exceeds per-call')")],
    ['another answer with the same words', reverted('Session: expired', 'invalid_request')],
    ['an encryptKey that cannot be used', new SvcKeyError('weak_encrypt_key', 'No')],
    ['a wrong input', new SvcInputError('invalid_input', 'Session: expired')],
    ['something else', new Error('Session: expired')],
  ])('stays as it is when it is %s', (_name, error) => {
    expect(toSessionError(error)).toBe(error);
  });
});
