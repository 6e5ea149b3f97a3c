import type { Database } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import type { Sponsor } from '../relayer/sponsor.ts';
import type { SignatureParts } from './signed-execution.ts';

export interface WalletParts extends SignatureParts {
  readonly db: Database;
  readonly networks: Pick<Networks, 'starknet' | 'evm' | 'token'>;
  readonly sponsor: Sponsor;
}
