import type { Environment } from '@svc/protocol';
import type { Database } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import type { Crypto } from '../crypto/crypto.ts';

/** A funded account of the service, from its configuration. */
export interface RelayerKey {
  readonly address: bigint;
  readonly privateKey: bigint;
}

export interface RelayerParts {
  readonly db: Database;
  readonly networks: Pick<Networks, 'starknet' | 'token'>;
  readonly crypto: Crypto;
  /** Those that pay for others' gas. */
  readonly keys: (environment: Environment) => readonly RelayerKey[];
  /** The one that pays out, if there is one. */
  readonly managerKey?: ((environment: Environment) => RelayerKey | undefined) | undefined;
  /** The most that one transaction may be estimated to cost, in FRI, and that a raise may offer; without it there is no limit. */
  readonly maxFeeFri?: bigint | undefined;
  readonly now?: () => number;
}

/** All accounts whose transactions are looked after. */
export function allKeys({ keys, managerKey }: RelayerParts, environment: Environment): readonly RelayerKey[] {
  const manager = managerKey?.(environment);
  return manager ? [...keys(environment), manager] : keys(environment);
}
