import type { RedeemChain } from '@svc/protocol';
import type { LiveStarknet } from '../chains/networks.ts';

/** Public pages that show a transaction, with `{hash}` in place of its hash. */
export type Explorers = Readonly<Partial<Record<RedeemChain, string>>>;

const live: Readonly<Record<LiveStarknet['network'], Explorers>> = {
  mainnet: { starknet: 'https://voyager.online/tx/{hash}', solana: 'https://solscan.io/tx/{hash}' },
  sepolia: {
    starknet: 'https://sepolia.voyager.online/tx/{hash}',
    solana: 'https://solscan.io/tx/{hash}?cluster=devnet',
  },
};

/**
 * Where the gifts of a deployment can be looked up. With the sandbox on, a gift may be one of development, which no public page
 * knows, and the claim page cannot tell them apart: then none.
 */
export function explorersOf(starknet: LiveStarknet | undefined, hasSandbox: boolean): Explorers {
  return starknet && !hasSandbox ? live[starknet.network] : {};
}
