import type { Environment } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import type { Database } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import type { StarknetChain } from '../chains/starknet/chain.ts';
import { type Token, tokensOf } from '../chains/tokens.ts';
import type { JobLog } from '../jobs/job.ts';

/** An environment's Starknet. */
export interface FollowedChain {
  readonly environment: Environment;
  readonly chain: StarknetChain;
  /** As the tables spell it. */
  readonly chainId: string;
  /** The network's known tokens, by address. */
  readonly tokens: ReadonlyMap<bigint, Token>;
}

/** Everything that following it needs. */
export interface Follower extends FollowedChain {
  readonly db: Database;
  readonly now: () => number;
  readonly log: JobLog;
}

export function followedChain(networks: Pick<Networks, 'starknet'>, environment: Environment): FollowedChain {
  const { name, chain } = networks.starknet(environment);
  const tokens = tokensOf(name, 'STARKNET').map((token) => [BigInt(token.address ?? 0), token] as const);
  return { environment, chain, chainId: toHex(chain.chainId), tokens: new Map(tokens) };
}
