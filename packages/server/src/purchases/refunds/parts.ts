import type { Database } from '@svc/store';
import type { Networks } from '../../chains/networks.ts';
import type { JobLog } from '../../jobs/job.ts';
import type { Payer } from '../../relayer/payer.ts';

export interface RefundParts {
  readonly db: Database;
  readonly networks: Networks;
  readonly payer: Payer;
  readonly log: JobLog;
  /** Waits between two looks at the chain. */
  readonly pause?: (ms: number) => Promise<void>;
}
