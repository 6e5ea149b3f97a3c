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
  readonly keys: (environment: Environment) => readonly RelayerKey[];
  /** The most that one transaction may be estimated to cost, in FRI, and that a raise may offer; without it there is no limit. */
  readonly maxFeeFri?: bigint | undefined;
  readonly now?: () => number;
}
