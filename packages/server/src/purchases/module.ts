import type { Environment } from '@svc/protocol';
import { type Reads, sql } from '@svc/store';
import type { Handlers } from '../http/call.ts';
import { type Jobs, type Module, queryGauge } from '../http/module.ts';
import type { GaugeSource } from '../http/monitoring.ts';
import type { JobHandler } from '../jobs/job.ts';
import { confirmPayment, type FulfilmentDeps, requeueStalledPurchases } from './confirm-payment.ts';
import { type CallbackDeps, cancelSkuPurchase, orderPurchase, registerProviderCallback } from './fulfilment.ts';
import { CONFIRM_PAYMENT_TASK, ORDER_TASK, type ToConfirm, type ToOrder } from './purchase.ts';
import {
  createPurchase,
  getProviderStatus,
  getPurchase,
  listOwnPurchases,
  type PurchaseDeps,
} from './record-purchase.ts';
import { type RefundDeps, refundSkuPurchase, requeueFailedRefunds } from './refunds.ts';

type PurchaseOperation =
  | 'createSkuPurchase'
  | 'getSkuPurchase'
  | 'listSkuPurchases'
  | 'cancelSkuPurchase'
  | 'refundSkuPurchase'
  | 'getProviderStatus';

export type PurchaseModuleDeps = PurchaseDeps & RefundJobDeps & FulfilmentDeps & CallbackDeps;

export function create(deps: PurchaseModuleDeps): Module<PurchaseOperation> {
  return {
    handlers: purchaseHandlers(deps),
    jobs: [fulfilmentJobs(deps), refundJobs(deps)],
    gauges: purchaseGauges(deps.db.lists),
    routes: (v1) => registerProviderCallback(v1, deps),
  };
}

function purchaseHandlers(deps: PurchaseDeps & RefundDeps & FulfilmentDeps): Pick<Handlers, PurchaseOperation> {
  const { reads } = deps.db;
  return {
    createSkuPurchase: (call) => createPurchase(deps, call),
    getSkuPurchase: ({ caller, params }) => getPurchase(reads, caller, params.id),
    listSkuPurchases: ({ caller, query }) => listOwnPurchases(deps.db.lists, caller, query),
    cancelSkuPurchase: (call) => cancelSkuPurchase(deps, call),
    refundSkuPurchase: (call) => refundSkuPurchase(deps, call),
    getProviderStatus: ({ caller }) => getProviderStatus(deps.db.lists, deps.providers, caller),
  };
}

const LOOK_AFTER_TASK = 'look-after-purchases';

export function fulfilmentJobs(deps: FulfilmentDeps): Jobs {
  return {
    handlers: {
      [CONFIRM_PAYMENT_TASK]: (toConfirm: ToConfirm) => confirmPayment(deps, toConfirm),
      [ORDER_TASK]: (toOrder: ToOrder, { signal }) => orderPurchase(deps, toOrder, signal),
      [LOOK_AFTER_TASK]: () => requeueStalledPurchases(deps.db),
    },
    recurring: [{ task: LOOK_AFTER_TASK, everySeconds: 60 }],
  };
}

export function purchaseGauges(reads: Reads): GaugeSource[] {
  return [
    queryGauge(
      reads,
      { name: 'svc_purchases_open', help: 'Purchases that have not ended', labelNames: ['environment', 'status'] },
      sql`select environment, status, count(*)::integer as value from transactions
           where type = 'SKU_PURCHASE' and status in ('PENDING', 'PROCESSING') group by environment, status`,
    ),
    queryGauge(
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
    queryGauge(
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

const SWEEP_SECONDS = 15;

export interface RefundJobDeps extends RefundDeps {
  /** Those whose chain this process reaches, and that have a manager. */
  readonly environments: readonly Environment[];
}

export function refundJobs(deps: RefundJobDeps): Jobs {
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

export { refundOutcomes as relayOutcomes } from './refunds.ts';
