import type { Database } from '@svc/store';
import type { Bridge } from '../../bridge/bridge.ts';
import type { JobLog } from '../../jobs/job.ts';
import type { Payer } from '../../relayer/payer.ts';

export interface BridgingParts {
  readonly db: Database;
  readonly bridge: Bridge;
  readonly payer: Payer;
  readonly log: JobLog;
  readonly now?: () => number;
}
