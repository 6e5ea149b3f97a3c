import type { Database } from '@svc/store';
import type { JobContext, JobLog } from '../../jobs/job.ts';
import { enqueuePumps } from '../pump-job.ts';
import { type AttemptParts, attempt } from './attempt.ts';
import { type DueDelivery, findDue, findNextDue } from './due.ts';
import { endDeletedDeliveries } from './end-deleted.ts';
import { keepAttempt } from './keep-attempt.ts';

export interface PumpParts extends AttemptParts {
  readonly db: Database;
  readonly log: JobLog;
}

/** A receiver has no more of our requests at the same time. */
export const IN_FLIGHT = 4;
/** Then other webhooks have their turn. */
const TURN_MS = 30_000;
/** How soon a new event is seen while an earlier one is still being sent. */
const LOOK_EVERY_MS = 1_000;

/**
 * Sends what is due at one webhook, for a while, and orders its next turn. A receiver that does not answer ends its turn: it goes
 * behind the others that wait. An attempt is stored after it was made, so that a process that dies leaves its deliveries due.
 */
export async function pump(parts: PumpParts, webhookId: string, { signal }: Pick<JobContext, 'signal'>): Promise<void> {
  await sendDue(parts, webhookId, signal);
  // The job is handed back, and whoever takes it over begins anew.
  signal.throwIfAborted();
  const { db } = parts;
  const next = await findNextDue(db, webhookId);
  if (!next?.waits) return;
  if (next.isDeleted) await endDeletedDeliveries(db, webhookId);
  // What was due long ago goes behind everybody who waits already, or a webhook with much to do would always be first.
  else if (!next.isDisabled) await enqueuePumps(db, [webhookId], next.laterAt ?? undefined);
}

async function sendDue(parts: PumpParts, webhookId: string, signal: AbortSignal): Promise<void> {
  const { db, log } = parts;
  const endsAt = performance.now() + TURN_MS;
  const inFlight = new Map<string, Promise<void>>();
  let failure: unknown;
  let isOver = false;

  const send = async (delivery: DueDelivery) => {
    const outcome = await attempt(parts, delivery, signal);
    await keepAttempt(db, delivery, outcome);
    const { status, error, durationMs } = outcome.made;
    const about = { webhookId, deliveryId: delivery.id, attempt: delivery.attempts + 1, status, durationMs };
    if (error !== null) log.info({ ...about, state: outcome.verdict.state }, 'webhook not delivered');
    isOver ||= outcome.timedOut;
  };
  const start = (delivery: DueDelivery) => {
    const sending = send(delivery)
      .catch((error: unknown) => {
        failure ??= error;
        isOver = true;
      })
      .finally(() => inFlight.delete(delivery.id));
    inFlight.set(delivery.id, sending);
  };
  while (!isOver && !signal.aborted && performance.now() < endsAt) {
    const free = IN_FLIGHT - inFlight.size;
    const due = free > 0 ? await findDue(db, webhookId, { except: [...inFlight.keys()], limit: free }) : [];
    for (const delivery of due) start(delivery);
    if (inFlight.size === 0) break;
    await first(inFlight, LOOK_EVERY_MS);
  }
  await Promise.all(inFlight.values());
  if (failure !== undefined) throw failure;
}

/** Until one of them ends, or the time is up. */
async function first(inFlight: ReadonlyMap<string, Promise<void>>, ms: number): Promise<void> {
  const time = Promise.withResolvers<void>();
  const timer = setTimeout(time.resolve, ms);
  await Promise.race([...inFlight.values(), time.promise]);
  clearTimeout(timer);
}
