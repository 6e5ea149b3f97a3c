import { type Reads, type Sql, sql } from '@svc/store';
import type { GaugeSource } from '../../http/metrics.ts';

/** Alarms can be set on these: purchases that nobody delivers, and payments that nobody gives back. */
export function purchaseGauges(reads: Reads): GaugeSource[] {
  return [
    gauge(
      reads,
      { name: 'svc_purchases_open', help: 'Purchases that have not ended', labelNames: ['environment', 'status'] },
      sql`select environment, status, count(*)::integer as value from transactions
           where type = 'SKU_PURCHASE' and status in ('PENDING', 'PROCESSING') group by environment, status`,
    ),
    gauge(
      reads,
      {
        name: 'svc_purchases_oldest_processing_seconds',
        help: 'For how long the oldest purchase that is paid for has had no outcome',
        labelNames: ['environment'],
      },
      sql`select environment, greatest(0, extract(epoch from now() - min(paid_at)))::float8 as value
            from transactions join sku_purchases using (id)
           where type = 'SKU_PURCHASE' and status = 'PROCESSING' and paid_at is not null group by environment`,
    ),
    gauge(
      reads,
      {
        name: 'svc_refunds_open',
        help: 'Payments that are due for refund, or on their way back',
        labelNames: ['environment', 'status'],
      },
      sql`select environment, refund_status as status, count(*)::integer as value from transactions
           where refund_status in ('DUE', 'REFUNDING') group by environment, refund_status`,
    ),
  ];
}

function gauge(reads: Reads, about: Omit<GaugeSource, 'read'>, query: Sql): GaugeSource {
  return {
    ...about,
    read: async () => {
      const rows = await reads.rows<Record<string, string> & { value: number }>(query);
      return rows.map((row) => ({
        labels: Object.fromEntries(about.labelNames.map((name) => [name, String(row[name])])),
        value: row.value,
      }));
    },
  };
}
