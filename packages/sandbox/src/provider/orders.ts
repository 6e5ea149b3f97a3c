import { createHash } from 'node:crypto';
import { ApiError } from '@svc/protocol';
import { type Db, type Reads, sql } from '@svc/store';
import { readBody, readText } from '../request-body.ts';
import {
  answerFaultKinds,
  type CallbackFaultKind,
  callbackFaultKinds,
  type RequestFaultKind,
  requestFaultKinds,
  takeProviderFault,
} from './faults.ts';

export type OrderState = 'accepted' | 'completed' | 'failed';
/** `lie` is the opposite result, for the fault `callback-contradicting`. */
export type CallbackResult = 'truth' | 'lie';

export interface OrderStatus {
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

export interface NewOrder extends OrderStatus {
  readonly order: Order;
  readonly dueInSeconds: number | null;
  readonly callbacks: readonly CallbackResult[];
}

const statusColumns = sql`state, file_number as "fileNumber", reason`;

export async function readSlowSeconds(reads: Reads): Promise<number> {
  const row = await reads.one<{ slow_seconds: number }>(sql`select slow_seconds from sandbox.provider`);
  if (!row) throw new Error('The settings of the provider are missing.');
  return row.slow_seconds;
}

export async function changeSlowSeconds(db: Db, slowSeconds: number): Promise<void> {
  await db.run(sql`update sandbox.provider set slow_seconds = ${slowSeconds}`);
}

export function insertOrder(tx: Db, { order, state, fileNumber, reason, dueInSeconds, callbacks }: NewOrder) {
  return tx.one<OrderStatus>(sql`
    insert into sandbox.provider_orders
      (order_id, request, state, file_number, reason, delivered, due_at, to_tell, tell_at)
    values (${order.orderId}, ${JSON.stringify(order)}::jsonb, ${state}, ${fileNumber}, ${reason},
      ${state === 'completed' ? 1 : 0}, clock_timestamp() + make_interval(secs => ${dueInSeconds}), ${callbacks},
      clock_timestamp())
    on conflict (order_id) do nothing
    returning ${statusColumns}`);
}

export function repeatOrder(tx: Db, order: Order): Promise<OrderStatus | undefined> {
  return tx.one<OrderStatus>(sql`
    update sandbox.provider_orders set asked = asked + 1
     where order_id = ${order.orderId} and request = ${JSON.stringify(order)}::jsonb
    returning ${statusColumns}`);
}

export function lookUpOrder(tx: Db, orderId: string): Promise<(OrderStatus & { reference: string }) | undefined> {
  return tx.one(sql`
    update sandbox.provider_orders set looked_up = looked_up + 1 where order_id = ${orderId}
    returning ${statusColumns}, request->>'reference' as reference`);
}

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
    select request, ${statusColumns}, asked, looked_up, delivered, told, received_at from sandbox.provider_orders
     where ${which} order by received_at desc, order_id desc limit ${limit}`);
  return rows.map(toShownOrder);
}

interface ListRow extends OrderStatus {
  readonly request: Order;
  readonly asked: number;
  readonly looked_up: number;
  readonly delivered: number;
  readonly told: readonly number[];
  readonly received_at: Date;
}

function toShownOrder(row: ListRow): ShownOrder {
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

export interface Order {
  readonly orderId: string;
  readonly environment: string;
  readonly organizationId: string;
  readonly catalogue: string;
  readonly providerId: string;
  readonly skuId: string;
  readonly reference: string;
  readonly amount: string;
  readonly currency: string;
}

/** Exactly one is null. */
export interface OrderOutcome {
  readonly fileNumber: string | null;
  readonly reason: string | null;
}

const fields = [
  'orderId',
  'environment',
  'organizationId',
  'catalogue',
  'providerId',
  'skuId',
  'reference',
  'amount',
  'currency',
] as const satisfies readonly (keyof Order)[];
const MAX_LENGTH = 255;
const FILE_NUMBER_DIGITS = 10;

const REFUSAL =
  'El proveedor de pruebas rechaza las referencias que terminan en 0000. The sandbox provider refuses references that end in 0000.';

/** The signature must be verified before. */
export function readOrder(bytes: Uint8Array): Order {
  const body = readBody(parse(bytes));
  return Object.fromEntries(fields.map((field) => [field, readText(body, field, MAX_LENGTH)])) as unknown as Order;
}

/** Depends on the last digits of the reference only. */
export function outcomeOf({ orderId, reference }: Order): OrderOutcome {
  if (reference.endsWith('0000')) return { fileNumber: null, reason: REFUSAL };
  return { fileNumber: fileNumberOf(orderId), reason: null };
}

export function isSlow({ reference }: Order): boolean {
  return reference.endsWith('1111');
}

export function fileNumberOf(orderId: string): string {
  const number = createHash('sha256').update(orderId).digest().readBigUInt64BE();
  return String(number % 10n ** BigInt(FILE_NUMBER_DIGITS)).padStart(FILE_NUMBER_DIGITS, '0');
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    throw new ApiError('invalid_request', 'The body is not valid JSON.');
  }
}

export interface AcceptedOrder {
  readonly fault: RequestFaultKind | undefined;
  /** Undefined if the id belongs to another order, or the request failed before. */
  readonly known: OrderStatus | undefined;
}

const callbacksOf: Readonly<Record<CallbackFaultKind, readonly CallbackResult[]>> = {
  slow: ['truth'],
  'no-callback': [],
  'callback-twice': ['truth', 'truth'],
  'callback-contradicting': ['truth', 'lie'],
};

/** Idempotent: a repeated order returns its current status. */
export function acceptOrder(db: Db, order: Order): Promise<AcceptedOrder> {
  return db.tx(async (tx) => {
    const kinds = [...requestFaultKinds, ...answerFaultKinds];
    const fault = await takeProviderFault(tx, kinds, 'order', order.reference);
    if (requestFaultKinds.some((kind) => kind === fault)) return { fault, known: undefined };
    const repeated = await repeatOrder(tx, order);
    const known = repeated ?? (await insertOrder(tx, await decideOrder(tx, order))) ?? (await repeatOrder(tx, order));
    return { fault, known };
  });
}

async function decideOrder(tx: Db, order: Order): Promise<NewOrder> {
  const fate = { order, ...outcomeOf(order) };
  const fault = await takeProviderFault(tx, callbackFaultKinds, 'order', order.reference);
  const words = fault === undefined && isSlow(order) ? callbacksOf.slow : fault && callbacksOf[fault];
  if (words) return { ...fate, state: 'accepted', dueInSeconds: await readSlowSeconds(tx), callbacks: words };
  return { ...fate, state: fate.reason === null ? 'completed' : 'failed', dueInSeconds: null, callbacks: [] };
}
