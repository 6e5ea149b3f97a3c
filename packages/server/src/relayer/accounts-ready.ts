import { ApiError } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import type { Database } from '@svc/store';
import type { StarknetChain } from '../chains/starknet/chain.ts';
import { nextNonces, raiseNextNonce } from './accounts.ts';
import type { RelayerKey } from './parts.ts';
import { padded } from './spelling.ts';

export interface ReadyAccounts {
  /** An account that stands on the chain, and the nonce that it would use next. */
  ready(db: Database, chain: StarknetChain, keys: readonly RelayerKey[]): Promise<{ sender: bigint; nonce: bigint }>;
}

/**
 * Sees to it that accounts have nonces to give out. The chain is asked once for each account, at the first use, because the
 * database may come from a backup.
 */
export function createReadyAccounts(setting: 'RELAYER_ACCOUNTS' | 'MANAGER_ACCOUNT'): ReadyAccounts {
  const asked = new Set<string>();
  const nameOf = (chain: StarknetChain, account: string) => `${toHex(chain.chainId)} ${account}`;
  const ask = async (db: Database, chain: StarknetChain, account: string) => {
    const nonce = await chain.nonceAt(BigInt(account));
    if (nonce === undefined) return;
    await raiseNextNonce(db, chain.chainId, account, nonce);
    asked.add(nameOf(chain, account));
  };
  return {
    async ready(db, chain, keys) {
      const accounts = keys.map(({ address }) => padded(address));
      const known = await nextNonces(db.reads, chain.chainId, accounts);
      const unknown = accounts.filter((account) => !known.has(account) || !asked.has(nameOf(chain, account)));
      await Promise.all(unknown.map((account) => ask(db, chain, account)));
      const [first] = unknown.length === 0 ? known : await nextNonces(db.reads, chain.chainId, accounts);
      if (first) return { sender: BigInt(first[0]), nonce: first[1] };
      const message = `No account that pays stands on the chain. ${setting} names ${accounts.join(', ')}.`;
      throw new ApiError('chain_not_configured', message);
    },
  };
}
