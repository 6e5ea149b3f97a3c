import { randomBytes } from 'node:crypto';
import type { Environment } from '@svc/protocol';
import { type Db, sql } from '@svc/store';
import { createOrganization } from '../src/organizations/api-keys.ts';
import { newId } from '../src/util/ids.ts';

export interface StoredOrder {
  readonly environment: Environment;
  /** Whether its provider was called; otherwise it is about to be. */
  readonly isOrdered?: boolean;
  readonly reference?: string;
}

export interface OrderEnd {
  readonly status: string;
  readonly fileNumber: string | null;
  readonly reason: string | null;
  readonly refund: string | null;
  readonly accepted: boolean;
}

const word = (text: string) => `0x${text.padStart(64, '0')}`;

/** A purchase that is paid and waits for its provider's result, of an organisation of its own. Answers its id. */
export async function storeOrder(db: Db, { environment, isOrdered = true, reference = '5512345678' }: StoredOrder) {
  const organizationId = await createOrganization(db, 'Tienda Azul');
  const [id, now] = [newId('txn'), new Date()];
  const hash = `0x1${randomBytes(30).toString('hex')}`;
  await db.tx(async (tx) => {
    await tx.run(sql`
      insert into transactions (id, organization_id, environment, api_public_key, type, chain, transaction_hash,
        sender_address, destination_address, token, token_address, amount, sku_id, sku_reference, sku_purchase_amount,
        sku_purchase_currency, status, created_at, updated_at)
      values (${id}, ${organizationId}, ${environment}, 'pk_test', 'SKU_PURCHASE', 'STARKNET', ${hash}, ${word('b0b')},
        ${word('a11ce')}, 'USDC', ${word('cafe')}, 2700000, 'telcel-50', ${reference}, 50, 'MXN', 'PROCESSING',
        ${now}, ${now})`);
    await tx.run(sql`
      insert into sku_purchases (id, provider_id, catalogue, sku_name, price_micros, paid_at, block_time, ordered_at)
      values (${id}, 'telcel', 'deployment', 'Telcel 50', 2700000, ${now}, ${now}, ${isOrdered ? now : null})`);
  });
  return id;
}

export async function endOf(db: Db, id: string): Promise<OrderEnd | undefined> {
  return db.one<OrderEnd>(sql`
    select status, sku_file_number as "fileNumber", revert_reason as reason, refund_status as refund,
           accepted_at is not null as accepted
      from transactions join sku_purchases using (id) where id = ${id}`);
}
