import { setTimeout as pauseFor } from 'node:timers/promises';
import { ApiError, type Environment } from '@svc/protocol';
import type { ExpectedTransfer } from './expected-transfer.ts';
import type { TransactionParts } from './parts.ts';
import { lookUp, type SeenTransaction, type Sight } from './seen-transaction.ts';

/** Whoever reports a transaction may be faster than the node that we ask. */
const PATIENCE_MS = 3_000;
const LOOK_EVERY_MS = 250;

export interface Awaited extends Pick<ExpectedTransfer, 'chain' | 'hash'> {
  /** Only what stands in a sealed block will do. */
  readonly accepted?: boolean;
}

/** The transaction as the chain shows it, or a refusal: a `transaction_not_found` after some seconds, or `transaction_reverted`. */
export async function awaitExecuted(
  { networks, pause = pauseFor }: Pick<TransactionParts, 'networks' | 'pause'>,
  environment: Environment,
  awaited: Awaited,
): Promise<SeenTransaction> {
  for (let waitedMs = 0; ; waitedMs += LOOK_EVERY_MS) {
    const sight = await lookUp(networks, environment, awaited.chain, awaited.hash);
    if (isThere(sight, awaited)) {
      if (sight.reverted) throw reverted(sight);
      return sight;
    }
    if (waitedMs >= PATIENCE_MS) throw notFound(awaited, sight);
    await pause(LOOK_EVERY_MS);
  }
}

function isThere(sight: Sight, { accepted = false }: Awaited): sight is SeenTransaction {
  return sight !== 'unknown' && sight !== 'waiting' && (sight.accepted || !accepted);
}

function notFound({ chain, hash }: Awaited, sight: Sight): ApiError {
  const states = {
    unknown: 'does not know it',
    waiting: 'has not executed it yet',
    open: 'has not sealed its block yet',
  };
  const state = states[typeof sight === 'string' ? sight : 'open'];
  return new ApiError(
    'transaction_not_found',
    `${chain} ${state}: transaction ${hash}. Record it once it is executed.`,
    { status: 400 },
  );
}

function reverted({ revertReason }: SeenTransaction): ApiError {
  const reason = revertReason ? `: ${revertReason}` : '.';
  return new ApiError('transaction_reverted', `The transaction was reverted on the chain${reason}`);
}
