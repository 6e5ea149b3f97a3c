import type { TxStatus } from '@svc/protocol';
import { type Db, sql } from '@svc/store';
import { purchaseStatusesBefore } from './status.ts';

/** What is left out stays as it is. */
export interface PurchaseChange {
  readonly status: TxStatus;
  /** Of the provider, with SUCCESS. */
  readonly fileNumber?: string | undefined;
  /** The payment's, with SUCCESS. */
  readonly confirmedAt?: Date | undefined;
  /** With FAILED. */
  readonly failureReason?: string | undefined;
  /** Whether the payment is to be given back. */
  readonly refundDue?: boolean | undefined;
}

/** As the columns bound them. */
const MAX_FILE_NUMBER = 255;
const MAX_REASON = 4_000;

/** False, and nothing is changed, where the purchase's status does not lead to the new one. */
export async function changePurchase(tx: Db, id: string, change: PurchaseChange): Promise<boolean> {
  const { status, fileNumber, confirmedAt, failureReason, refundDue = false } = change;
  const changed = await tx.run(sql`
    update transactions
       set status = ${status},
           sku_file_number = coalesce(${storable(fileNumber, MAX_FILE_NUMBER)}, sku_file_number),
           confirmed_at = coalesce(${confirmedAt ?? null}, confirmed_at),
           revert_reason = coalesce(${storable(failureReason, MAX_REASON)}, revert_reason),
           refund_status = coalesce(refund_status, ${refundDue ? 'DUE' : null}),
           updated_at = greatest(created_at, now())
     where id = ${id} and type = 'SKU_PURCHASE' and status = any(${purchaseStatusesBefore(status)}::text[])`);
  return changed === 1;
}

/** Others choose these words. The database has no place for the character 0. */
function storable(text: string | undefined, maxLength: number): string | null {
  return text === undefined ? null : text.replaceAll('\0', '').toWellFormed().slice(0, maxLength).toWellFormed();
}

/** The payment stands in a sealed block, and this is what it moved. */
export async function markPaid(tx: Db, id: string, paid: { blockTime: Date; amount: bigint }): Promise<void> {
  const isFirst = await tx.run(sql`
    update sku_purchases set paid_at = now(), block_time = ${paid.blockTime} where id = ${id} and paid_at is null`);
  if (isFirst === 0) return;
  // More may have arrived than at the first look, and all of it is given back should nothing be delivered.
  await tx.run(sql`update transactions set amount = ${paid.amount} where id = ${id} and amount <> ${paid.amount}`);
}

/** What was paid for a purchase that has ended already is due to its payer. */
export async function markRefundDue(tx: Db, id: string): Promise<void> {
  await tx.run(sql`
    update transactions set refund_status = 'DUE', updated_at = greatest(created_at, now())
     where id = ${id} and refund_status is null and status in ('FAILED', 'CANCELLED')`);
}

/** From now on only an outcome ends it. */
export async function markOrdered(tx: Db, id: string): Promise<void> {
  await tx.run(sql`update sku_purchases set ordered_at = now() where id = ${id} and ordered_at is null`);
}

/** The provider has it, and tells the result later. */
export async function markAccepted(db: Db, id: string): Promise<void> {
  await db.run(sql`
    update sku_purchases set accepted_at = now()
     where id = ${id} and accepted_at is null and ordered_at is not null`);
}
