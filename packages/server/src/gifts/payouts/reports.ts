import type { Reads } from '@svc/store';
import type { GaugeSource } from '../../http/metrics.ts';
import { countWaiting, type Waiting } from './store.ts';

/** Alarms can be set on these: redeems that nobody pays. */
export function payoutGauges(reads: Reads): GaugeSource[] {
  const gauge = (name: string, help: string, value: (waiting: Waiting) => number): GaugeSource => ({
    name,
    help,
    labelNames: ['environment'],
    read: async () =>
      (await countWaiting(reads)).map((waiting) => ({
        labels: { environment: waiting.environment },
        value: value(waiting),
      })),
  });
  return [
    gauge('svc_redeems_waiting', 'Redeems that are in no payout yet', ({ count }) => count),
    gauge(
      'svc_redeems_oldest_waiting_seconds',
      'Age of the oldest redeem that is in no payout',
      ({ oldestSeconds }) => oldestSeconds,
    ),
  ];
}
