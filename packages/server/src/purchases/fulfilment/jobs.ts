import type { JobHandlers } from '../../jobs/job.ts';
import type { RecurringJob } from '../../jobs/recurring.ts';
import { CONFIRM_PAYMENT_TASK, confirmPayment, type ToConfirm } from './confirm-payment.ts';
import { lookAfterPurchases } from './look-after.ts';
import { orderPurchase } from './order.ts';
import { ORDER_TASK, type ToOrder } from './order-job.ts';
import type { FulfilmentParts } from './parts.ts';

const LOOK_AFTER_TASK = 'look-after-purchases';

export function fulfilmentJobs(parts: FulfilmentParts): {
  readonly handlers: JobHandlers;
  readonly recurring: readonly RecurringJob[];
} {
  return {
    handlers: {
      [CONFIRM_PAYMENT_TASK]: (toConfirm: ToConfirm) => confirmPayment(parts, toConfirm),
      [ORDER_TASK]: (toOrder: ToOrder, { signal }) => orderPurchase(parts, toOrder, signal),
      [LOOK_AFTER_TASK]: () => lookAfterPurchases(parts.db),
    },
    recurring: [{ task: LOOK_AFTER_TASK, everySeconds: 60 }],
  };
}
