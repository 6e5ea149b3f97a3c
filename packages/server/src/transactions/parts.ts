import type { Database } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import type { Sponsor } from '../relayer/sponsor.ts';
import type { SignatureParts } from '../wallets/signed-execution.ts';

export interface TransactionParts extends SignatureParts {
  readonly db: Database;
  readonly networks: Networks;
  readonly sponsor: Sponsor;
  /** Waits between two looks at the chain. */
  readonly pause?: (ms: number) => Promise<void>;
  readonly now?: () => number;
}
