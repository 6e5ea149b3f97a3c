import type { Handlers } from '../http/call.ts';
import { requireWallet } from '../transactions/require-wallet.ts';
import { readAddress } from '../wallets/fields.ts';
import type { SyncParts } from './sync.ts';
import { syncInTurn } from './sync-in-turn.ts';

export function followingHandlers(parts: SyncParts): Pick<Handlers, 'syncOnChain'> {
  return {
    syncOnChain: async ({ caller, body }) => {
      const address = readAddress(body.walletAddress, 'body.walletAddress');
      // Says first when there is no chain to look at.
      parts.networks.starknet(caller.environment);
      const wallet = await requireWallet(parts.db.reads, caller, address);
      return syncInTurn(parts, wallet);
    },
  };
}
