import { randomBytes } from 'node:crypto';
import type { Environment } from '@svc/protocol';
import { type Db, sql } from '@svc/store';
import { padAddress } from '../src/chains/starknet/chain.ts';
import { createOrganization } from '../src/organizations/api-keys.ts';
import { newId } from '../src/util/ids.ts';

export interface StoredPurchase {
  /** FAILED: its payment is due for refund. */
  readonly status: 'PENDING' | 'PROCESSING' | 'FAILED';
  /** Default: a new one. */
  readonly organizationId?: string;
  readonly environment?: Environment;
  /** Default: one that the chain does not know. */
  readonly hash?: string;
  readonly buyer?: bigint;
  readonly paymentAddress?: bigint;
  readonly tokenAddress?: bigint;
  /** In units of the token. */
  readonly paid?: bigint;
  /** In micros; default: what was paid. */
  readonly price?: bigint;
  readonly isOrdered?: boolean;
  /** Since it was recorded and paid; default: none. */
  readonly ageMinutes?: number;
  readonly sku?: Partial<typeof SKU>;
}

const SKU = {
  id: 'telcel-50',
  name: 'Telcel 50',
  providerId: 'telcel',
  catalogue: 'deployment',
  reference: '5512345678',
  pesos: '50',
};

/** Stores a purchase as it is a while after it was recorded; answers its id. */
export async function storePurchase(db: Db, purchase: StoredPurchase): Promise<string> {
  const { status, environment = 'development', hash = newHash(), buyer = 0xb0bn, paymentAddress = 0xa11cen } = purchase;
  const { tokenAddress = 0xcafen, paid = 2_700_000n, isOrdered = status !== 'PENDING' } = purchase;
  const { price = paid } = purchase;
  const organizationId = purchase.organizationId ?? (await createOrganization(db, 'Tienda Azul'));
  const sku = { ...SKU, ...purchase.sku };
  const id = newId('txn');
  const createdAt = new Date(Date.now() - (purchase.ageMinutes ?? 0) * 60_000);
  const paidAt = status === 'PENDING' ? null : createdAt;
  await db.tx(async (tx) => {
    await tx.run(sql`
      insert into transactions (id, organization_id, environment, api_public_key, type, chain, transaction_hash,
        sender_address, destination_address, token, token_address, amount, sku_id, sku_reference, sku_purchase_amount,
        sku_purchase_currency, status, refund_status, created_at, updated_at)
      values (${id}, ${organizationId}, ${environment}, 'pk_dev_1', 'SKU_PURCHASE', 'STARKNET', ${hash},
        ${padAddress(buyer)}, ${padAddress(paymentAddress)}, 'USDC', ${padAddress(tokenAddress)}, ${paid}, ${sku.id},
        ${sku.reference}, ${sku.pesos}, 'MXN', ${status}, ${status === 'FAILED' ? 'DUE' : null}, ${createdAt}, now())`);
    await tx.run(sql`
      insert into sku_purchases (id, provider_id, catalogue, sku_name, price_micros, paid_at, block_time, ordered_at)
      values (${id}, ${sku.providerId}, ${sku.catalogue}, ${sku.name}, ${price}, ${paidAt}, ${paidAt},
        ${isOrdered ? paidAt : null})`);
  });
  return id;
}

const newHash = () => `0x1${randomBytes(30).toString('hex')}`;

export interface PurchaseEnd {
  readonly status: string;
  readonly fileNumber: string | null;
  readonly reason: string | null;
  readonly refund: string | null;
  readonly accepted: boolean;
}

export async function endOf(db: Db, id: string): Promise<PurchaseEnd | undefined> {
  return db.one<PurchaseEnd>(sql`
    select status, sku_file_number as "fileNumber", revert_reason as reason, refund_status as refund,
           accepted_at is not null as accepted
      from transactions join sku_purchases using (id) where id = ${id}`);
}
