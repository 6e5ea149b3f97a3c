import type { Environment } from '@svc/protocol';
import type { Database } from '@svc/store';
import type { Networks } from '../../chains/networks.ts';
import type { JobLog } from '../../jobs/job.ts';
import type { Payer } from '../../relayer/payer.ts';

export interface PayoutParts {
  readonly db: Database;
  readonly networks: Pick<Networks, 'starknet' | 'token'>;
  readonly payer: Payer;
  readonly log: JobLog;
}

/** Where USDC is on an environment's Starknet; its smallest unit is a millionth, as that of credits. */
export function usdcOf(networks: PayoutParts['networks'], environment: Environment): bigint {
  const address = networks.token(environment, 'STARKNET', 'USDC')?.address;
  if (!address) throw new Error(`There is no USDC on the Starknet of ${environment}.`);
  return BigInt(address);
}
