import { type Reads, sql } from '@svc/store';
import { type Module, queryGauge } from '../http/module.ts';
import type { GaugeSource } from '../http/monitoring.ts';
import { type CreateDepositDeps, createDeposit } from './deposit.ts';
import { type SweepJobDeps, sweepJobs, sweepOutcomes } from './deposit-address.ts';

export { depositWatcher } from './deposit.ts';
export { depositAddressReader } from './deposit-address.ts';

export type DepositModuleDeps = CreateDepositDeps & SweepJobDeps;

export function create(deps: DepositModuleDeps): Module<'createDeposit'> {
  return {
    handlers: { createDeposit: (call) => createDeposit(deps, call) },
    jobs: [sweepJobs(deps)],
    gauges: depositGauges(deps.db.lists),
  };
}

/** They run in the transaction that stores an outcome and need no relayer. */
export const relayOutcomes = sweepOutcomes;

function depositGauges(reads: Reads): GaugeSource[] {
  const labelNames = ['environment'];
  return [
    queryGauge(
      reads,
      {
        name: 'svc_deposits_oldest_unswept_seconds',
        help: 'Age of the oldest deposit that is not with the manager yet',
        labelNames,
      },
      sql`select environment, extract(epoch from now() - min(unswept_since))::float8 as value
            from deposit_addresses where sweep_at is not null group by environment`,
    ),
    queryGauge(
      reads,
      {
        name: 'svc_deposits_owed_usd',
        help: 'Credits of deposits that a reorganisation removed after they were spent',
        labelNames,
      },
      sql`select environment, sum(credited_micros - amount_micros)::float8 / 1e6 as value
            from deposits where credited_micros > amount_micros group by environment`,
    ),
  ];
}
