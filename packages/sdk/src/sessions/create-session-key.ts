import { starkKey, toHex } from '@svc/starknet';
import type { Client } from '../client/client.ts';
import { SvcKeyError } from '../client/errors.ts';
import { newPrivateKey } from '../keys/new-private-key.ts';
import { sealKey } from '../keys/seal-key.ts';
import { readInteger } from './read-integer.ts';
import type { Session } from './session.ts';
import { sessionError } from './session-errors.ts';

export interface CreateSessionKeyParams {
  /** Encrypts the session's key; it need not be the one of the wallet. */
  readonly encryptKey: string;
  /** Default 21600: six hours. */
  readonly durationSeconds?: number | undefined;
}

const DURATION_SECONDS = 21_600;
/** Ten years: a longer delegation is a second owner, and most likely a mistake in the unit. */
const MAX_DURATION_SECONDS = 315_360_000n;

/**
 * Makes a session key on this device. Nothing is sent: the wallet knows the key once it is registered, by `addSessionKeyToContract`
 * or `setupSession`, and the service never stores it.
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
    // An encryptKey that cannot be used is the caller's to mend, and says so itself.
    if (error instanceof SvcKeyError) throw error;
    // Without the cause: what failed may have had the key in its hands, and say so.
    throw sessionError('SESSION_CREATION_FAILED');
  }
}
