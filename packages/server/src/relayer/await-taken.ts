import { ApiError } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import type { Reads } from '@svc/store';
import { findRelay } from './find-relay.ts';
import type { Relay } from './relay.ts';
import type { Relayed } from './sponsor.ts';

/** Longer than a node that hiccups, shorter than what callers of an API wait. */
const PATIENCE_MS = 20_000;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

/** Answers when a node has taken one of the relay's transactions. */
export async function awaitTaken(
  reads: Reads,
  id: string,
  pause: (ms: number) => Promise<unknown>,
  patienceMs = PATIENCE_MS,
): Promise<Relayed> {
  let waitedMs = 0;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    const relay = await findRelay(reads, id);
    if (!relay) throw new Error(`The relay ${id} is gone.`);
    if (relay.state === 'VOIDED') throw voided();
    if (relay.state !== 'STORED' && relay.hash !== undefined) return { id, hash: relay.hash };
    if (waitedMs >= patienceMs) throw notTaken(relay);
    await pause(pauseMs);
    waitedMs += pauseMs;
  }
}

function voided(): ApiError {
  return new ApiError(
    'typed_data_expired',
    'The chain did not execute this in time, and it never will. Prepare it again and sign it anew.',
  );
}

function notTaken({ hash }: Relay): ApiError {
  const name = hash === undefined ? 'the transaction' : `transaction ${toHex(hash)}`;
  return new ApiError(
    'chain_unavailable',
    `The chain has not taken ${name} yet. It is stored and will be sent, so do not sign anew: send the same request again to get its answer.`,
  );
}
