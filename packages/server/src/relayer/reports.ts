import type { Reads } from '@svc/store';
import type { GaugeSource } from '../http/metrics.ts';
import type { Checks } from '../http/operations.ts';
import { type RelayerAccountStatus, relayerStatus } from './status.ts';

const FRI_PER_STRK = 1e18;
const UNITS_PER_USDC = 1e6;
/** Some dozens of gifts: time for the operator to send more. */
const LOW_USDC = 100_000_000n;

/** Alarms can be set on these: an account that runs dry, a relay that does not end. */
export function relayerGauges(reads: Reads): GaugeSource[] {
  const gauge = (
    name: string,
    help: string,
    value: (status: RelayerAccountStatus) => number | undefined,
  ): GaugeSource => ({
    name,
    help,
    labelNames: ['account'],
    read: async () =>
      (await relayerStatus(reads)).flatMap((status) => {
        const found = value(status);
        return found === undefined ? [] : [{ labels: { account: status.address }, value: found }];
      }),
  });
  return [
    gauge('svc_relayer_balance_strk', 'What a relayer account has left for gas', ({ balance }) =>
      balance === undefined ? undefined : Number(balance) / FRI_PER_STRK,
    ),
    gauge('svc_relayer_balance_low', '1 when a relayer account needs more STRK soon', ({ low }) => Number(low)),
    gauge('svc_manager_balance_usdc', 'What the account that pays out has left to pay with', ({ usdc }) =>
      usdc === undefined ? undefined : Number(usdc) / UNITS_PER_USDC,
    ),
    gauge('svc_relays_open', 'Transactions under way of a relayer account', ({ openRelays }) => openRelays),
    gauge(
      'svc_relays_oldest_open_seconds',
      'Age of the oldest transaction under way of a relayer account',
      ({ oldestOpenSeconds }) => oldestOpenSeconds,
    ),
  ];
}

/** No reason to send requests elsewhere: reading works, and every other process has the same accounts. */
export function relayerChecks(reads: Reads): Checks {
  return {
    relayers: async () => {
      const accounts = (await relayerStatus(reads)).filter(({ usdc }) => usdc === undefined);
      if (accounts.length > 0 && accounts.every(({ empty }) => empty)) return 'empty';
      return accounts.some(({ low }) => low) ? 'low' : 'ok';
    },
    manager: async () => {
      const managers = (await relayerStatus(reads)).filter(({ usdc }) => usdc !== undefined);
      if (managers.some(({ empty, usdc }) => empty || usdc === 0n)) return 'empty';
      return managers.some(({ low, usdc = 0n }) => low || usdc < LOW_USDC) ? 'low' : 'ok';
    },
  };
}
