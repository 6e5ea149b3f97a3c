import type { JobHandlers } from '../jobs/job.ts';
import type { RecurringJob } from '../jobs/recurring.ts';
import { CONFIRM_TASK, type ConfirmParts, confirm, type ToConfirm } from './confirm.ts';
import { countHistory } from './count-history.ts';
import { forgetUnusedNames } from './function-names.ts';
import { sweepUnconfirmed } from './sweep-unconfirmed.ts';

const COUNT_TASK = 'count-transaction-history';
const SWEEP_TASK = 'sweep-unconfirmed-transactions';
const FORGET_TASK = 'forget-function-names';

export function transactionJobs(parts: ConfirmParts): {
  readonly handlers: JobHandlers;
  readonly recurring: readonly RecurringJob[];
} {
  return {
    handlers: {
      [CONFIRM_TASK]: (toConfirm: ToConfirm) => confirm(parts, toConfirm),
      [COUNT_TASK]: async (_: unknown, { signal }) => void (await countHistory(parts.db, signal)),
      [SWEEP_TASK]: () => sweepUnconfirmed(parts.db),
      [FORGET_TASK]: () => forgetUnusedNames(parts.db),
    },
    recurring: [
      { task: COUNT_TASK, everySeconds: 10 },
      { task: SWEEP_TASK, everySeconds: 60 },
      { task: FORGET_TASK, everySeconds: 3_600 },
    ],
  };
}
