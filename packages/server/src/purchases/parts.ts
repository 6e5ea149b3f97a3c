import type { Database } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import type { Exchange } from '../exchanges/service.ts';
import type { Providers } from './providers/provider.ts';

export interface PurchaseParts {
  readonly db: Database;
  readonly networks: Networks;
  readonly exchange: Pick<Exchange, 'ratesOfLast'>;
  readonly providers: Providers;
  /** Waits between two looks at the chain. */
  readonly pause?: (ms: number) => Promise<void>;
  readonly now?: () => number;
}
