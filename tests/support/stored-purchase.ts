import { randomBytes } from 'node:crypto';
import type { Environment } from '@svc/protocol';
import { type Db, sql } from '@svc/store';
import { newId } from '../../packages/server/src/util/ids.ts';
import { USDC } from './sandbox-client.ts';

export interface StoredPurchase {
  readonly organizationId: string;
  /** Default: development. */
  readonly environment?: Environment;
  /** Who paid, and is paid back. */
  readonly buyer: string;
  readonly paymentAddress: string;
  readonly status: 'PENDING' | 'FAILED';
  /** A transfer of a cent or more, without which nothing is given back. Default: one that the chain does not know. */
  readonly hash?: string;
}

/** A cent, so that many can be given back. */
export const PAID_RAW = 10_000;

/** A purchase as one finds it a while after it was recorded: its payment unknown, or due for refund. Answers its id. */
export async function storePurchase(db: Db, purchase: StoredPurchase): Promise<string> {
  const { organizationId, environment = 'development', buyer, paymentAddress, status } = purchase;
  const [id, refund] = [newId('txn'), status === 'FAILED' ? 'DUE' : null];
  const { hash = newHash() } = purchase;
  const called = status === 'FAILED' ? new Date() : null;
  await db.tx(async (tx) => {
    await tx.run(sql`
      insert into transactions (id, organization_id, environment, api_public_key, type, chain, transaction_hash,
        sender_address, destination_address, token, token_address, amount, sku_id, sku_reference, sku_purchase_amount,
        sku_purchase_currency, status, refund_status, created_at, updated_at)
      values (${id}, ${organizationId}, ${environment}, 'pk_dev_test', 'SKU_PURCHASE', 'STARKNET', ${hash},
        ${normal(buyer)}, ${normal(paymentAddress)}, 'USDC', ${normal(USDC)}, ${PAID_RAW}, 'pase-recarga',
        'IMDM28417936', 0.18, 'MXN', ${status}, ${refund}, now(), now())`);
    await tx.run(sql`
      insert into sku_purchases (id, provider_id, catalogue, sku_name, price_micros, paid_at, block_time, ordered_at)
      values (${id}, 'movilidad-mx', 'deployment', 'PASE: recarga de tag', ${PAID_RAW}, ${called}, ${called}, ${called})`);
  });
  return id;
}

const newHash = () => `0x1${randomBytes(30).toString('hex')}`;
const normal = (address: string) => `0x${address.slice(2).padStart(64, '0').toLowerCase()}`;
