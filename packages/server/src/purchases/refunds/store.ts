import type { Environment, RefundStatus } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { type Db, type Reads, sql } from '@svc/store';
import { refundStatusesBefore } from './status.ts';

/** Throws, and so ends the transaction, where the refund's status does not lead to the new one. */
export async function changeRefund(tx: Db, id: string, to: RefundStatus, hash?: bigint): Promise<void> {
  const changed = await tx.run(sql`
    update transactions
       set refund_status = ${to}, refund_transaction_hash = ${to === 'REFUNDED' && hash !== undefined ? toHex(hash) : null},
           updated_at = greatest(created_at, now())
     where id = ${id} and refund_status = any(${refundStatusesBefore(to)}::text[])`);
  if (changed !== 1) throw new Error(`The refund of ${id} cannot be ${to}.`);
}

/** The transaction on the chain is another one than before, because a fee had to be raised. */
export async function changeRefundHash(tx: Db, id: string, hash: bigint): Promise<void> {
  await tx.run(sql`
    update transactions set refund_transaction_hash = ${toHex(hash)} where id = ${id} and refund_status = 'REFUNDED'`);
}

/** The transaction of ours that gives the payment back from now on. */
export async function keepRefundRelay(tx: Db, id: string, relayId: string): Promise<void> {
  await tx.run(sql`
    update sku_purchases set refund_relay_id = ${relayId}, refunds_begun = refunds_begun + 1 where id = ${id}`);
}

export interface UsedTransfer {
  readonly chainId: bigint;
  readonly hash: bigint;
  readonly organizationId: string;
  readonly environment: Environment;
  readonly purchaseId: string;
}

/** A transfer gives back one payment. False when it was used for something before. */
export async function useTransfer(tx: Db, used: UsedTransfer): Promise<boolean> {
  const count = await tx.run(sql`
    insert into used_payments (chain_id, transaction_hash, organization_id, environment, purpose, reference)
    values (${toHex(used.chainId)}, ${toHex(used.hash)}, ${used.organizationId}, ${used.environment}, 'refund',
            ${used.purchaseId})
    on conflict (chain_id, transaction_hash) do nothing`);
  return count === 1;
}

/** Transactions of ours that ended without giving anything back, and were not given up, the oldest first. */
export async function unpaidRefunds(reads: Reads, chainId: bigint, limit: number): Promise<string[]> {
  const rows = await reads.rows<{ id: string }>(sql`
    select id from relays
     where chain_id = ${toHex(chainId)} and state in ('REVERTED', 'VOIDED') and account is not null and kind = 'refund'
       and not_after > now()
     order by created_at limit ${limit}`);
  return rows.map(({ id }) => id);
}
