import type { Client } from '../client/client.ts';
import { chainTime } from '../node/chain-time.ts';
import { sessionError } from './session-errors.ts';

/** The contract refuses a time that has passed, and an earlier class reports even that as success. */
export async function requireTimeAhead(client: Client, validUntil: bigint): Promise<void> {
  if (validUntil <= (await chainTime(client))) throw sessionError('SESSION_EXPIRED');
}
