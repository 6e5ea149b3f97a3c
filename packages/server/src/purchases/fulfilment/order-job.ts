import { type Reads, sql } from '@svc/store';
import type { NewJob } from '../../jobs/job.ts';
import type { Purchase } from './purchase.ts';

export const ORDER_TASK = 'order-purchase';

/** What `order-purchase` works on. */
export interface ToOrder {
  readonly purchaseId: string;
}

/** How many of an environment are asked for at the same time by all processes together: a slow provider must not hold up jobs that move money. */
export const ORDER_LANES = 4;

/** Has the provider called, or asked what became of an order. A purchase has one lane, so there are never two of it at the same time. */
export function orderJob({ record: { id, environment } }: Pick<Purchase, 'record'>, runAt?: Date): NewJob {
  const payload: ToOrder = { purchaseId: id };
  const queue = `orders-${environment}-${laneOf(id)}`;
  return { task: ORDER_TASK, key: id, payload, queue, ...(runAt && { runAt }) };
}

/** Whether a worker is at it, so that the provider may be hearing of it at this moment. */
export async function isBeingOrdered(reads: Reads, id: string): Promise<boolean> {
  const running = await reads.rows(sql`
    select from jobs where task = ${ORDER_TASK} and key = ${id} and worker is not null limit 1`);
  return running.length > 0;
}

/** The end of an id is random. */
const laneOf = (id: string) => id.charCodeAt(id.length - 1) % ORDER_LANES;
