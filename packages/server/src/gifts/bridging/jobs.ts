import type { JobHandlers } from '../../jobs/job.ts';
import type { RecurringJob } from '../../jobs/recurring.ts';
import { BRIDGE_TASK } from '../redeem-jobs.ts';
import { bridgeRedeem } from './bridge-redeem.ts';
import type { BridgingParts } from './parts.ts';
import { sweepBridged } from './sweep.ts';

const SWEEP_TASK = 'sweep-bridged-redeems';

export function bridgingJobs(parts: BridgingParts): {
  readonly handlers: JobHandlers;
  readonly recurring: readonly RecurringJob[];
} {
  return {
    handlers: {
      [BRIDGE_TASK]: ({ redeemId }: { redeemId: string }) => bridgeRedeem(parts, redeemId),
      [SWEEP_TASK]: () => sweepBridged(parts.db),
    },
    recurring: [{ task: SWEEP_TASK, everySeconds: 60 }],
  };
}
