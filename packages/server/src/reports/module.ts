import type { Database } from '@svc/store';
import { type Module, processGauge } from '../http/module.ts';
import { deleteOldRequests, listRequests, type RequestLog } from '../http/request-log.ts';
import { overview } from './overview.ts';

export interface ReportDeps {
  readonly db: Database;
  /** Undefined where it is switched off. */
  readonly requestLog: RequestLog | undefined;
  readonly loggedRequests: number;
}

const DELETE_TASK = 'delete-old-requests';

export function create({ db, requestLog, loggedRequests }: ReportDeps): Module<'getOverview' | 'listRequests'> {
  return {
    handlers: {
      getOverview: ({ caller, query }) => overview(db.lists, caller, query),
      listRequests: ({ caller, query }) => listRequests(db.lists, caller, query),
    },
    jobs: [
      {
        // Also where it is switched off: what was written before ends, too.
        handlers: { [DELETE_TASK]: (_: unknown, { signal }) => deleteOldRequests(db, loggedRequests, signal) },
        recurring: [{ task: DELETE_TASK, everySeconds: 600 }],
      },
    ],
    gauges: [
      processGauge(
        'svc_request_log_dropped',
        'Requests that the request log lost, because the database did not take them in time',
        () => requestLog?.dropped ?? 0,
      ),
    ],
  };
}
