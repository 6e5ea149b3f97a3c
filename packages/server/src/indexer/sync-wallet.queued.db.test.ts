import { describe, expect, it } from 'vitest';
import { wrapChain } from '../../testing/chain.ts';
import { useIndexer } from '../../testing/indexer.ts';
import type { StarknetChain } from '../chains/starknet/chain.ts';
import { type SyncDeps, syncWalletQueued } from './sync-wallet.ts';

const fixture = useIndexer();

function partsWith(chain: StarknetChain): SyncDeps {
  const { db, networks } = fixture();
  const starknet = (environment: 'development' | 'production') => ({ ...networks.starknet(environment), chain });
  return { db, networks: { starknet } };
}

/** A chain whose latest block is told when `open` is called, and which notes who waits for it. */
function slowChain() {
  const gate = Promise.withResolvers<void>();
  const waiting: unknown[] = [];
  const { chain } = fixture();
  const slow = wrapChain(chain, {
    block: async (at) => {
      if (at === 'latest') waiting.push(at);
      await gate.promise;
      return chain.block(at);
    },
  });
  return { deps: partsWith(slow), waiting, open: gate.resolve };
}

describe('looking for wallets’ transfers', () => {
  it('is done once for all who ask for the same wallet at once', async () => {
    const { organization, wallet, fund } = fixture();
    const own = await wallet(await organization());
    await fund(own);
    const { deps, waiting, open } = slowChain();
    const asked = Promise.all([1, 2, 3].map(() => syncWalletQueued(deps, own)));
    open();
    expect(await asked).toEqual(Array(3).fill({ synced: 1, total: 1 }));
    expect(waiting).toHaveLength(1);
    expect(await syncWalletQueued(deps, own)).toEqual({ synced: 0, total: 1 });
  });

  it('is done for two wallets at a time, and refused when the queue is full', async () => {
    const { organization, wallet } = fixture();
    const own = await wallet(await organization());
    const { deps, waiting, open } = slowChain();
    const others = Array.from({ length: 100 }, (_, n) => ({ ...own, id: `wal_${n}` }));
    const asked = others.map((other) => syncWalletQueued(deps, other));
    await expect(syncWalletQueued(deps, own)).rejects.toMatchObject({ code: 'rate_limited' });
    await expect.poll(() => waiting.length).toBe(2);
    open();
    expect(await Promise.all(asked)).toHaveLength(100);
    expect(await syncWalletQueued(deps, own)).toEqual({ synced: 0, total: 0 });
  });

  it('is over for a wallet also when it failed', async () => {
    const { chain, organization, wallet } = fixture();
    const own = await wallet(await organization());
    const broken = wrapChain(chain, { events: () => Promise.reject(new Error('broken')) });
    await expect(syncWalletQueued(partsWith(broken), own)).rejects.toThrow('broken');
    expect(await syncWalletQueued(fixture(), own)).toEqual({ synced: 0, total: 0 });
  });
});
