import type { Db } from '@svc/store';
import { enqueue } from '../../packages/server/src/jobs/job.ts';
import { findPurchase, orderJob } from '../../packages/server/src/purchases/purchase.ts';
import { type StoredOrder, storeOrder } from '../../packages/server/testing/stored-purchases.ts';

/** A purchase whose payment was just confirmed: its provider is called next. Answers its id. */
export async function placeOrder(db: Db, order: Omit<StoredOrder, 'isOrdered'>): Promise<string> {
  const id = await storeOrder(db, { ...order, isOrdered: false });
  const purchase = await findPurchase(db, id);
  if (!purchase) throw new Error(`Purchase ${id} was not stored.`);
  await enqueue(db, orderJob(purchase));
  return id;
}
