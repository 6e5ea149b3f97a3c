import type { Environment } from '@svc/protocol';
import { type Db, sql } from '@svc/store';

export interface OrderRow {
  readonly environment: Environment;
  readonly status: string;
  readonly fileNumber: string | null;
}

/** A purchase whose provider was called. */
export function findOrder(tx: Db, orderId: string): Promise<OrderRow | undefined> {
  return tx.one<OrderRow>(sql`
    select t.environment, t.status, t.sku_file_number as "fileNumber"
      from sku_purchases p join transactions t on t.id = p.id
     where p.id = ${orderId} and p.ordered_at is not null`);
}
