import { ApiError } from '@svc/protocol';
import type { Db } from '@svc/store';
import type { Caller } from '../../http/caller.ts';
import { findPurchase, type Purchase } from './purchase.ts';

/** Another organisation's is as if it were not there. */
export async function ownPurchase(
  db: Db,
  { organizationId, environment }: Pick<Caller, 'organizationId' | 'environment'>,
  id: string,
): Promise<Purchase> {
  const purchase = await findPurchase(db, id);
  const isOwn = purchase?.record.organizationId === organizationId && purchase.record.environment === environment;
  if (!isOwn) throw new ApiError('purchase_not_found');
  return purchase;
}
