import { describe, expect, it } from 'vitest';
import { recordingChain, relayer, transfer, wrapChain } from '../../testing/chain.ts';
import { useIndexer } from '../../testing/indexer.ts';
import type { StarknetChain } from '../chains/starknet/chain.ts';
import type { WalletRecord } from '../wallets/wallet.ts';
import { syncWallet } from './sync-wallet.ts';

const fixture = useIndexer();

function sync(chain: StarknetChain, wallet: WalletRecord) {
  const { db, networks } = fixture();
  const starknet = (environment: 'development' | 'production') => ({ ...networks.starknet(environment), chain });
  return syncWallet({ db, networks: { starknet } }, wallet);
}

describe('fees that a wallet paid itself', () => {
  it('are no part of its history, and cost no question', async () => {
    const { chain, organization, wallet, send, history } = fixture();
    const own = await wallet(await organization(), { address: relayer(1).address });
    for (let n = 0; n < 5; n += 1) await send([]);
    const asked: string[] = [];
    expect(await sync(recordingChain(chain, asked), own)).toEqual({ synced: 0, total: 0 });
    expect(await history(own)).toEqual([]);
    expect(asked).toEqual(['block', 'events', 'events']);
  });

  it('are left out also when they went to an earlier sequencer', async () => {
    const { chain, organization, wallet, send, history } = fixture();
    const own = await wallet(await organization(), { address: relayer(2).address });
    await send([transfer('STRK', 0xb0bn, 9n)], 2);
    const later = wrapChain(chain, {
      block: async (at) => {
        const block = await chain.block(at);
        return block && at === 'latest' ? { ...block, sequencer: 0x5e9n } : block;
      },
    });
    expect(await sync(later, own)).toEqual({ synced: 1, total: 1 });
    expect(await sync(later, own)).toEqual({ synced: 0, total: 1 });
    expect((await history(own)).map(({ amount }) => amount)).toEqual([9n]);
  });

  it('hide nothing of another token that was sent to the sequencer', async () => {
    const { chain, organization, wallet, send, fund } = fixture();
    const own = await wallet(await organization(), { address: relayer(3).address });
    await fund(own);
    const sequencer = (await chain.block('latest'))?.sequencer ?? 0n;
    await send([transfer('USDC', sequencer, 7n)], 3);
    expect(await sync(chain, own)).toEqual({ synced: 2, total: 2 });
  });
});
