import { type Db, type Reads, sql } from '@svc/store';
import type { Order } from './order.ts';

export type OrderState = 'accepted' | 'completed' | 'failed';
/** What the provider says of an order by itself: what is so, or, where that fault was ordered, the opposite. */
export type Word = 'truth' | 'lie';

/** What became of an order. */
export interface Known {
  readonly state: OrderState;
  readonly fileNumber: string | null;
  readonly reason: string | null;
}

export interface ShownOrder extends Order {
  readonly status: OrderState;
  readonly fileNumber?: string;
  readonly reason?: string;
  readonly asked: number;
  readonly lookedUp: number;
  readonly delivered: number;
  readonly told: readonly number[];
  readonly receivedAt: string;
}

export interface NewOrder extends Known {
  readonly order: Order;
  readonly dueInSeconds: number | null;
  readonly toTell: readonly Word[];
}

const known = sql`state, file_number as "fileNumber", reason`;

export async function readSlowSeconds(reads: Reads): Promise<number> {
  const row = await reads.one<{ slow_seconds: number }>(sql`select slow_seconds from sandbox.provider`);
  if (!row) throw new Error('The settings of the provider are missing.');
  return row.slow_seconds;
}

export async function changeSlowSeconds(db: Db, slowSeconds: number): Promise<void> {
  await db.run(sql`update sandbox.provider set slow_seconds = ${slowSeconds}`);
}

/** Stores an order that was not known, and delivers it where it is one that is delivered at once. */
export function insertOrder(tx: Db, { order, state, fileNumber, reason, dueInSeconds, toTell }: NewOrder) {
  return tx.one<Known>(sql`
    insert into sandbox.provider_orders
      (order_id, request, state, file_number, reason, delivered, due_at, to_tell, tell_at)
    values (${order.orderId}, ${JSON.stringify(order)}::jsonb, ${state}, ${fileNumber}, ${reason},
      ${state === 'completed' ? 1 : 0}, clock_timestamp() + make_interval(secs => ${dueInSeconds}), ${toTell},
      clock_timestamp())
    on conflict (order_id) do nothing
    returning ${known}`);
}

/** Counts an order that comes again; undefined where it was another one. */
export function repeatOrder(tx: Db, order: Order): Promise<Known | undefined> {
  return tx.one<Known>(sql`
    update sandbox.provider_orders set asked = asked + 1
     where order_id = ${order.orderId} and request = ${JSON.stringify(order)}::jsonb
    returning ${known}`);
}

export function lookUpOrder(tx: Db, orderId: string): Promise<(Known & { reference: string }) | undefined> {
  return tx.one(sql`
    update sandbox.provider_orders set looked_up = looked_up + 1 where order_id = ${orderId}
    returning ${known}, request->>'reference' as reference`);
}

/** Ends what is due: one order, or all. */
export async function deliverDue(db: Db, orderId?: string): Promise<void> {
  const which = orderId === undefined ? sql`true` : sql`order_id = ${orderId}`;
  await db.run(sql`
    update sandbox.provider_orders
       set state = case when reason is null then 'completed' else 'failed' end,
           delivered = delivered + case when reason is null then 1 else 0 end
     where state = 'accepted' and due_at <= clock_timestamp() and ${which}`);
}

export async function listOrders(db: Db, orderId: string | undefined, limit: number): Promise<ShownOrder[]> {
  const which = orderId === undefined ? sql`true` : sql`order_id = ${orderId}`;
  const rows = await db.rows<ListRow>(sql`
    select request, ${known}, asked, looked_up, delivered, told, received_at from sandbox.provider_orders
     where ${which} order by received_at desc, order_id desc limit ${limit}`);
  return rows.map(shown);
}

interface ListRow extends Known {
  readonly request: Order;
  readonly asked: number;
  readonly looked_up: number;
  readonly delivered: number;
  readonly told: readonly number[];
  readonly received_at: Date;
}

function shown(row: ListRow): ShownOrder {
  return {
    ...row.request,
    status: row.state,
    ...(row.state === 'completed' && row.fileNumber !== null && { fileNumber: row.fileNumber }),
    ...(row.state === 'failed' && row.reason !== null && { reason: row.reason }),
    asked: row.asked,
    lookedUp: row.looked_up,
    delivered: row.delivered,
    told: row.told,
    receivedAt: row.received_at.toISOString(),
  };
}
