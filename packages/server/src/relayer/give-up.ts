import { type Db, sql } from '@svc/store';
import { lockState } from './change-state.ts';
import type { RelayState } from './relay.ts';

/** A transaction of our own has no window: it is tried until it has ended, or until it is given up. */
export const NEVER_OVER = new Date('9999-01-01T00:00:00Z');

/**
 * From now on nothing of this relay is sent but what uses up its nonce, even if a reorganisation opens it again. False, and nothing
 * is changed, when it is under way or was executed.
 */
export async function giveUp(tx: Db, relayId: string): Promise<boolean> {
  const hopeless: readonly RelayState[] = ['REVERTED', 'VOIDED'];
  if (!hopeless.includes(await lockState(tx, relayId))) return false;
  await tx.run(sql`update relays set not_after = to_timestamp(0), updated_at = now() where id = ${relayId}`);
  return true;
}

/** It was executed after all, so it counts again, and is sent again should the chain lose it. */
export async function takeUp(tx: Db, relayId: string): Promise<void> {
  await tx.run(sql`update relays set not_after = ${NEVER_OVER} where id = ${relayId} and not_after < ${NEVER_OVER}`);
}
