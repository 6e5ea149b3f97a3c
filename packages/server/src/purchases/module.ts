import type { Environment } from '@svc/protocol';
import { type Reads, type Sql, sql } from '@svc/store';
import type { Handlers } from '../http/call.ts';
import type { GaugeSource } from '../http/monitoring.ts';
import type { JobHandler, JobHandlers, RecurringJob } from '../jobs/job.ts';
import { confirmPayment, type FulfilmentDeps, lookAfterPurchases } from './confirm-payment.ts';
import { cancelSkuPurchase, orderPurchase } from './fulfilment.ts';
import { CONFIRM_PAYMENT_TASK, ORDER_TASK, type ToConfirm, type ToOrder } from './purchase.ts';
import { createPurchase, getPurchase, listOwnPurchases, type PurchaseDeps } from './record-purchase.ts';
import { requeueFailedRefunds } from './refund-outcome.ts';
import { type RefundDeps, refundSkuPurchase } from './refunds.ts';

type PurchaseOperation =
  | 'createSkuPurchase'
  | 'getSkuPurchase'
  | 'listSkuPurchases'
  | 'cancelSkuPurchase'
  | 'refundSkuPurchase';

export function purchaseHandlers(deps: PurchaseDeps & RefundDeps): Pick<Handlers, PurchaseOperation> {
  const { reads } = deps.db;
  return {
    createSkuPurchase: (call) => createPurchase(deps, call),
    getSkuPurchase: ({ caller, params }) => getPurchase(reads, caller, params.id),
    listSkuPurchases: ({ caller, query }) => listOwnPurchases(reads, caller, query),
    cancelSkuPurchase: (call) => cancelSkuPurchase(deps, call),
    refundSkuPurchase: (call) => refundSkuPurchase(deps, call),
  };
}

const LOOK_AFTER_TASK = 'look-after-purchases';

export function fulfilmentJobs(deps: FulfilmentDeps): {
  readonly handlers: JobHandlers;
  readonly recurring: readonly RecurringJob[];
} {
  return {
    handlers: {
      [CONFIRM_PAYMENT_TASK]: (toConfirm: ToConfirm) => confirmPayment(deps, toConfirm),
      [ORDER_TASK]: (toOrder: ToOrder, { signal }) => orderPurchase(deps, toOrder, signal),
      [LOOK_AFTER_TASK]: () => lookAfterPurchases(deps.db),
    },
    recurring: [{ task: LOOK_AFTER_TASK, everySeconds: 60 }],
  };
}

/** Alarms can be set on these: purchases that nobody delivers, and payments that nobody gives back. */
export function purchaseGauges(reads: Reads): GaugeSource[] {
  return [
    gauge(
      reads,
      { name: 'svc_purchases_open', help: 'Purchases that have not ended', labelNames: ['environment', 'status'] },
      sql`select environment, status, count(*)::integer as value from transactions
           where type = 'SKU_PURCHASE' and status in ('PENDING', 'PROCESSING') group by environment, status`,
    ),
    gauge(
      reads,
      {
        name: 'svc_purchases_oldest_processing_seconds',
        help: 'For how long the oldest purchase that is paid for has had no outcome',
        labelNames: ['environment'],
      },
      sql`select environment, greatest(0, extract(epoch from now() - min(paid_at)))::float8 as value
            from transactions join sku_purchases using (id)
           where type = 'SKU_PURCHASE' and status = 'PROCESSING' and paid_at is not null group by environment`,
    ),
    gauge(
      reads,
      {
        name: 'svc_refunds_open',
        help: 'Payments that are due for refund, or on their way back',
        labelNames: ['environment', 'status'],
      },
      sql`select environment, refund_status as status, count(*)::integer as value from transactions
           where refund_status in ('DUE', 'REFUNDING') group by environment, refund_status`,
    ),
  ];
}

function gauge(reads: Reads, about: Omit<GaugeSource, 'read'>, query: Sql): GaugeSource {
  return {
    ...about,
    read: async () => {
      const rows = await reads.rows<Record<string, string> & { value: number }>(query);
      return rows.map((row) => ({
        labels: Object.fromEntries(about.labelNames.map((name) => [name, String(row[name])])),
        value: row.value,
      }));
    },
  };
}

const SWEEP_SECONDS = 15;

export interface RefundJobDeps extends RefundDeps {
  /** Those whose chain this process reaches, and that have a manager. */
  readonly environments: readonly Environment[];
}

export function refundJobs(deps: RefundJobDeps): { handlers: JobHandlers; recurring: readonly RecurringJob[] } {
  const taskOf = (environment: Environment) => `sweep-refunds-${environment}`;
  const handlers = deps.environments.map((environment): [string, JobHandler<never>] => [
    taskOf(environment),
    async () => void (await requeueFailedRefunds(deps, environment)),
  ]);
  return {
    handlers: Object.fromEntries(handlers),
    recurring: deps.environments.map((each) => ({ task: taskOf(each), everySeconds: SWEEP_SECONDS })),
  };
}
