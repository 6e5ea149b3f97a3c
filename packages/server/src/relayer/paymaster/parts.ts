import type { Database, Db } from '@svc/store';
import type { Networks } from '../../chains/networks.ts';
import type { Crypto } from '../../crypto/crypto.ts';
import type { JobLog } from '../../jobs/job.ts';
import type { OutcomeHandlers } from '../outcome.ts';
import type { PaymasterClient } from './client.ts';

export interface PaymasterParts {
  readonly db: Database;
  readonly networks: Pick<Networks, 'starknet'>;
  readonly crypto: Crypto;
  readonly paymaster: PaymasterClient;
  readonly outcomes: OutcomeHandlers;
  /**
   * Told the transaction of a relay, in the database transaction that stores it and before any outcome; again when it turns out
   * to be another one.
   */
  readonly onHash: (tx: Db, relayId: string, hash: bigint) => Promise<void>;
  readonly log: JobLog;
}
