import { type Reads, sql } from '@svc/store';
import type { GaugeSource } from '../../http/metrics.ts';

/** An alarm can be set on the second: such a redeem waits for `resume-redeem`. */
export function bridgingGauges(reads: Reads): GaugeSource[] {
  const gauge = (name: string, help: string, which: ReturnType<typeof sql>): GaugeSource => ({
    name,
    help,
    labelNames: ['environment'],
    read: async () => {
      const rows = await reads.rows<{ environment: string; count: number }>(sql`
        select environment, count(*)::integer as count from gift_redeems
         where destination_chain = 'solana' and ${which} group by environment`);
      return rows.map(({ environment, count }) => ({ labels: { environment }, value: count }));
    },
  });
  return [
    gauge('svc_redeems_bridging', 'Redeems on their way to Solana', sql`status in ('PENDING', 'BRIDGING', 'ATTESTED')`),
    gauge(
      'svc_redeems_stuck',
      'Redeems that were burned on Starknet and did not arrive on Solana',
      sql`status = 'FAILED' and bridge ->> 'burnedAt' is not null`,
    ),
  ];
}
