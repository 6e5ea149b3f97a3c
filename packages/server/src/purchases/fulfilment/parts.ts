import type { Database } from '@svc/store';
import type { Networks } from '../../chains/networks.ts';
import type { JobLog } from '../../jobs/job.ts';
import type { Providers } from '../providers/provider.ts';

export interface FulfilmentParts {
  readonly db: Database;
  readonly networks: Networks;
  readonly providers: Providers;
  readonly log: JobLog;
  readonly now?: (() => number) | undefined;
}
