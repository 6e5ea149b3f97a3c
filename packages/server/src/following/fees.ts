import type { ChainToken } from '@svc/protocol';
import type { Transfer } from '../chains/starknet/transfers.ts';
import type { Token } from '../chains/tokens.ts';

/** What fees are paid in, and were paid in before. */
const FEE_TOKENS: readonly ChainToken[] = ['STRK', 'ETH'];

/**
 * Whether a transfer is what the chain took for a transaction. Nobody else has a reason to pay those who make the blocks; to make
 * sure would cost a receipt for each.
 */
export function isFee({ to, known }: Transfer & { known: Token }, sequencers: ReadonlySet<bigint>): boolean {
  return FEE_TOKENS.includes(known.token) && sequencers.has(to);
}
