import { type Db, sql } from '@svc/store';
import { expect } from 'vitest';
import type { Receiver } from '../../packages/server/testing/receiver.ts';
import { eventually } from './eventually.ts';

interface Told {
  readonly type: string;
  readonly data: { readonly id?: string; readonly status?: string };
}

/** The types of events that a receiver has heard of a purchase. */
export function toldOf({ received }: Pick<Receiver, 'received'>, id: string): ReadonlySet<string> {
  const told = received.map(({ body }) => JSON.parse(body) as Told);
  return new Set(told.filter(({ data }) => data.id === id).map(({ type }) => type));
}

interface Audited {
  readonly id: string;
  readonly status: string;
  readonly reference: string;
  readonly refund: string | null;
  readonly file: string | null;
  /** Of the provider's own ledger: null where it has never seen the order. */
  readonly state: string | null;
  readonly delivered: number | null;
  readonly delivered_file: string | null;
  readonly events: string[];
  readonly uses: number;
}

/**
 * Once everything has ended: the provider has one order for each purchase, delivered as often as the purchase says, and none besides;
 * every payment was used once; the app was told of everything, at least once.
 */
export async function expectOnceEach(db: Db, receiver: Receiver, patienceMs: number): Promise<void> {
  const purchases = await db.rows<Audited>(sql`
    select t.id, t.status, t.sku_reference as reference, t.refund_status as refund, t.sku_file_number as file, o.state,
           o.delivered, o.file_number as delivered_file,
           array(select type from events where subject = t.id order by type) as events,
           (select count(*)::integer from used_payments u where u.reference = t.id and purpose = 'purchase') as uses
      from transactions t left join sandbox.provider_orders o on o.order_id = t.id
     where t.type = 'SKU_PURCHASE' order by t.id`);
  for (const purchase of purchases) expect(purchase).toEqual(truthOf(purchase));
  const strangers = await db.rows(sql`
    select order_id from sandbox.provider_orders
     where not exists (select from transactions where id = order_id and type = 'SKU_PURCHASE')`);
  expect(strangers).toEqual([]);
  const untold = async () =>
    purchases.filter(({ id, events }) => !events.every((type) => toldOf(receiver, id).has(type)));
  expect(await eventually(untold, (left) => left.length === 0, patienceMs)).toEqual([]);
}

/** What a purchase must look like, by its reference. */
function truthOf(purchase: Audited): Audited {
  const isRefused = purchase.reference.endsWith('0000');
  const end = isRefused
    ? { status: 'FAILED', refund: 'DUE', file: null, state: 'failed', delivered: 0, delivered_file: null }
    : { status: 'SUCCESS', refund: null, state: 'completed', delivered: 1, delivered_file: purchase.file };
  const told = isRefused ? 'sku-purchase.failed' : 'sku-purchase.completed';
  return { ...purchase, ...end, events: [told, 'sku-purchase.processing'], uses: 1 };
}
