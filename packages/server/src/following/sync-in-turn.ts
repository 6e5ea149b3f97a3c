import { ApiError } from '@svc/protocol';
import { createTurns } from '../relayer/turns.ts';
import type { WalletRecord } from '../wallets/wallet.ts';
import { type Synced, type SyncParts, syncWallet } from './sync.ts';

/** Each may read a hundred pages: with more of them, a node would have no time for anything else. */
const AT_ONCE = 2;
/** Longer lines take longer than anybody waits for an answer. */
const MAX_WALLETS = 100;

const takeTurn = createTurns(AT_ONCE);
/** Those that run or wait, by the wallet's id. */
const wanted = new Map<string, Promise<Synced>>();

/** A few wallets at a time in this process, and each once: whoever asks meanwhile for the same one shares the answer. */
export function syncInTurn(parts: SyncParts, wallet: WalletRecord): Promise<Synced> {
  const shared = wanted.get(wallet.id);
  if (shared) return shared;
  if (wanted.size >= MAX_WALLETS) {
    return Promise.reject(
      new ApiError('rate_limited', 'Too many wallets are being looked for on the chain. Try later.'),
    );
  }
  const synced = takeTurn(() => syncWallet(parts, wallet)).finally(() => wanted.delete(wallet.id));
  wanted.set(wallet.id, synced);
  return synced;
}
