import type { Environment } from '@svc/protocol';
import { type Reads, type Sql, sql } from '@svc/store';
import type { Handlers } from '../http/call.ts';
import type { GaugeSource } from '../http/monitoring.ts';
import type { JobHandler, JobHandlers, RecurringJob } from '../jobs/job.ts';
import { confirmPayment, type FulfilmentParts, lookAfterPurchases } from './confirm-payment.ts';
import { cancelSkuPurchase, orderPurchase } from './fulfilment.ts';
import { CONFIRM_PAYMENT_TASK, ORDER_TASK, type ToConfirm, type ToOrder } from './purchase.ts';
import { createPurchase, getPurchase, listOwnPurchases, type PurchaseParts } from './record-purchase.ts';
import { freeUnpaidRefunds } from './refund-outcome.ts';
import { type RefundParts, refundSkuPurchase } from './refunds.ts';

type PurchaseOperation =
  | 'createSkuPurchase'
  | 'getSkuPurchase'
  | 'listSkuPurchases'
  | 'cancelSkuPurchase'
  | 'refundSkuPurchase';

export function purchaseHandlers(parts: PurchaseParts & RefundParts): Pick<Handlers, PurchaseOperation> {
  const { reads } = parts.db;
  return {
    createSkuPurchase: (call) => createPurchase(parts, call),
    getSkuPurchase: ({ caller, params }) => getPurchase(reads, caller, params.id),
    listSkuPurchases: ({ caller, query }) => listOwnPurchases(reads, caller, query),
    cancelSkuPurchase: (call) => cancelSkuPurchase(parts, call),
    refundSkuPurchase: (call) => refundSkuPurchase(parts, call),
  };
}

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

export interface RefundJobParts extends RefundParts {
  /** Those whose chain this process reaches, and that have a manager. */
  readonly environments: readonly Environment[];
}

export function refundJobs(parts: RefundJobParts): { handlers: JobHandlers; recurring: readonly RecurringJob[] } {
  const taskOf = (environment: Environment) => `sweep-refunds-${environment}`;
  const handlers = parts.environments.map((environment): [string, JobHandler<never>] => [
    taskOf(environment),
    async () => void (await freeUnpaidRefunds(parts, environment)),
  ]);
  return {
    handlers: Object.fromEntries(handlers),
    recurring: parts.environments.map((each) => ({ task: taskOf(each), everySeconds: SWEEP_SECONDS })),
  };
}
