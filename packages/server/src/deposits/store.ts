import { ApiError, type UsdMicros } from '@svc/protocol';
import { type Db, type Reads, sql } from '@svc/store';
import { credit } from '../ledger/credit.ts';
import { type Entry, entryColumns, type LedgerOwner } from '../ledger/entries.ts';

/** A payment, by the chain and its one spelling there. */
export interface Payment {
  readonly chainId: string;
  readonly hash: string;
}

interface Use extends LedgerOwner {
  readonly purpose: 'deposit' | 'purchase';
  readonly reference: string;
}

/** The entry that this payment was credited with, undefined while it is unused, or `transaction_already_used`. */
export async function findDeposit(
  reads: Reads,
  { organizationId, environment }: LedgerOwner,
  { chainId, hash }: Payment,
): Promise<Entry | undefined> {
  const use = await reads.one<Use>(sql`
    select organization_id as "organizationId", environment, purpose, reference
      from used_payments
     where chain_id = ${chainId} and transaction_hash = ${hash}`);
  if (!use) return undefined;
  if (use.organizationId !== organizationId || use.environment !== environment || use.purpose !== 'deposit') {
    throw new ApiError('transaction_already_used');
  }
  return reads.one<Entry>(sql`select ${entryColumns} from ledger_entries where id = ${use.reference}`);
}

/**
 * Credits a payment and remembers that it is used. Of two that offer it at once the second waits for the first: for the same
 * environment it answers the same entry, for another it throws `transaction_already_used`, which ends the transaction.
 */
export async function storeDeposit(
  tx: Db,
  { organizationId, environment }: LedgerOwner,
  { chainId, hash }: Payment,
  amount: UsdMicros,
): Promise<Entry> {
  const { entry, created } = await credit(tx, {
    organizationId,
    environment,
    type: 'DEPOSIT',
    amount,
    reference: hash,
  });
  if (!created) return entry;
  const used = await tx.run(sql`
    insert into used_payments (chain_id, transaction_hash, organization_id, environment, purpose, reference)
    values (${chainId}, ${hash}, ${organizationId}, ${environment}, 'deposit', ${entry.id})
    on conflict (chain_id, transaction_hash) do nothing`);
  if (used === 0) throw new ApiError('transaction_already_used');
  return entry;
}
