import { enqueue, enqueueMany } from '../../jobs/enqueue.ts';
import type { JobHandler, JobHandlers } from '../../jobs/job.ts';
import type { RecurringJob } from '../../jobs/recurring.ts';
import { isOpen } from '../relay.ts';
import { follow } from './follow.ts';
import { FOLLOW_TASK, type FollowPayload, followJob } from './follow-job.ts';
import type { PaymasterParts } from './parts.ts';
import { openRelays, type PaymasterRelay } from './store.ts';

const SWEEP_TASK = 'sweep-paymaster-relays';
const SWEEP_SECONDS = 60;
/** Untouched for this long: perhaps its own job has given up, or the chain was reorganised. */
const QUIET_MS = 60_000;
const MAX_SWEPT = 1_000;
/** What cannot be told after a week is for the operator to find out. */
const MAX_FOLLOWED_MS = 7 * 24 * 3_600_000;

/** A block's time while it is young, and then less and less often. */
const MIN_PAUSE_MS = 2_000;
const MAX_PAUSE_MS = 300_000;
const PAUSES_PER_AGE = 10;

/** Follows what a paymaster was asked to execute until the chain shows how it ended. */
export function paymasterJobs(parts: PaymasterParts): { handlers: JobHandlers; recurring: readonly RecurringJob[] } {
  const followRelay: JobHandler<FollowPayload> = async ({ relayId }) => {
    const relay = await follow(parts, relayId);
    if (relay && !isEnough(relay)) await enqueue(parts.db, followJob(relayId, pauseFor(relay)));
  };
  const sweep: JobHandler<object> = async () => {
    const ids = await openRelays(parts.db, { quietMs: QUIET_MS, maxAgeMs: MAX_FOLLOWED_MS, limit: MAX_SWEPT });
    await enqueueMany(
      parts.db,
      ids.map((id) => followJob(id, 0)),
    );
  };
  return {
    handlers: { [FOLLOW_TASK]: followRelay, [SWEEP_TASK]: sweep },
    recurring: [{ task: SWEEP_TASK, everySeconds: SWEEP_SECONDS }],
  };
}

/**
 * Until its window is over, anyone who has the signature may still execute what reverted or what the paymaster refused, the
 * paymaster included.
 */
function isEnough(relay: PaymasterRelay): boolean {
  if (isOpen(relay.state)) return ageOf(relay) > MAX_FOLLOWED_MS;
  return relay.state === 'SUCCEEDED' || Date.now() > relay.notAfter.getTime() + MAX_PAUSE_MS;
}

function pauseFor(relay: PaymasterRelay): number {
  return Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, ageOf(relay) / PAUSES_PER_AGE));
}

const ageOf = ({ createdAt }: PaymasterRelay): number => Date.now() - createdAt.getTime();
