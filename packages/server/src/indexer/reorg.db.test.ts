import { describe, expect, it } from 'vitest';
import { smallPages, wrapChain } from '../../testing/chain.ts';
import { useWorld } from '../../testing/indexer.ts';
import { indexChain } from './index-blocks.ts';
import { STALE_MS } from './reorg.ts';
import { RETURN_MS } from './store-transfers.ts';

const world = useWorld();

const blockOf = async (hash: string) => (await world().chain.receipt(BigInt(hash)))?.blockNumber ?? -1;

describe('a reorganisation that drops a transfer', () => {
  it('makes it fail, after the chain had time to bring it again', async () => {
    const { follow, organization, wallet, fund, order, clock, history } = world();
    const own = await wallet(await organization());
    await follow();
    await fund(own);
    await follow();
    await order('reorg', { blocks: 1, transactions: 'drop' });
    await order('mine', { blocks: 1 });
    await follow();
    clock.ms += RETURN_MS - 1;
    await follow();
    expect(await history(own)).toMatchObject([{ status: 'SUCCESS' }]);
    clock.ms += 1;
    await follow();
    expect(await history(own)).toMatchObject([{ status: 'FAILED', confirmedAt: undefined }]);
  });

  it('waits with that until the blocks that took its place were followed', async () => {
    const { follow, organization, wallet, fund, order, clock, history, cursor, chain } = world();
    const own = await wallet(await organization());
    await follow();
    await fund(own);
    await order('mine', { blocks: 2 });
    await follow();
    await order('reorg', { blocks: 3, transactions: 'drop' });
    await follow();
    clock.ms += STALE_MS;
    await follow();
    expect(await cursor()).toBe(await chain.blockNumber());
    clock.ms += 10 * RETURN_MS;
    await follow();
    expect(await history(own)).toMatchObject([{ status: 'SUCCESS' }]);
    await order('mine', { blocks: 1 });
    await follow();
    clock.ms += RETURN_MS;
    await follow();
    expect(await history(own)).toMatchObject([{ status: 'FAILED' }]);
  });

  it('waits anew when those blocks were taken back, too', async () => {
    const { follow, organization, wallet, fund, order, clock, history } = world();
    const own = await wallet(await organization());
    await follow();
    await fund(own);
    await follow();
    await order('reorg', { blocks: 1, transactions: 'drop' });
    await order('mine', { blocks: 1 });
    await follow();
    await order('reorg', { blocks: 1, transactions: 'drop' });
    await follow();
    clock.ms += STALE_MS;
    await follow();
    clock.ms += RETURN_MS;
    await follow();
    expect(await history(own)).toMatchObject([{ status: 'SUCCESS' }]);
    await order('mine', { blocks: 1 });
    await follow();
    expect(await history(own)).toMatchObject([{ status: 'FAILED' }]);
  });

  it('lets it succeed again when it comes back late, with the same hash', async () => {
    const { follow, organization, wallet, fund, order, clock, history } = world();
    const own = await wallet(await organization());
    await follow();
    const hash = await fund(own);
    await follow();
    await order('reorg', { blocks: 1, transactions: 'drop' });
    await order('mine', { blocks: 3 });
    await follow();
    clock.ms += RETURN_MS;
    await follow();
    expect(await history(own)).toMatchObject([{ status: 'FAILED' }]);
    expect(await fund(own)).toBe(hash);
    await follow();
    expect(await history(own)).toMatchObject([{ status: 'SUCCESS', blockNumber: await blockOf(hash) }]);
  });
});

describe('a reorganisation that moves transfers into another block', () => {
  it('leaves them as they were, with the new block and its time', async () => {
    const { chain, follow, organization, wallet, fund, order, clock, history } = world();
    const own = await wallet(await organization());
    await follow();
    const hashes = [await fund(own, '1'), await fund(own, '2'), await fund(own, '3')];
    await follow();
    const before = await history(own);
    await order('reorg', { blocks: 3, transactions: 'requeue' });
    await follow();
    clock.ms += RETURN_MS;
    await order('mine', { blocks: 5 });
    await follow();
    clock.ms += RETURN_MS;
    await follow();
    const number = await blockOf(hashes[2] ?? '');
    const block = await chain.block(number);
    const after = await history(own);
    expect(after).toMatchObject(
      hashes.map((transactionHash) => ({
        transactionHash,
        status: 'SUCCESS',
        blockNumber: number,
        confirmedAt: block?.timestamp,
      })),
    );
    expect(after.map(({ id }) => id).sort()).toEqual(before.map(({ id }) => id).sort());
  });

  it('is noticed when it happens while the events are read', async () => {
    const { chain, follow, organization, wallet, fund, order, history, cursor } = world();
    const own = await wallet(await organization());
    await follow();
    const start = await cursor();
    const hashes = [await fund(own, '1'), await fund(own, '2'), await fund(own, '3')];
    const disturbed = smallPages(chain, 2, async (page) => {
      if (page === 2) await order('reorg', { blocks: 3, transactions: 'requeue' });
    });
    await follow(disturbed);
    expect(await history(own)).toEqual([]);
    expect(await cursor()).toBe(start);
    await follow();
    const number = await blockOf(hashes[0] ?? '');
    const found = (await history(own)).map(({ transactionHash, blockNumber }) => [transactionHash, blockNumber]);
    expect(found).toEqual(hashes.map((hash) => [hash, number]));
  });

  it('is nothing to go back for when it happens above what was followed, while the events are read', async () => {
    const { chain, follower, organization, wallet, fund, order, history } = world();
    const own = await wallet(await organization());
    await world().follow();
    await order('mine', { blocks: 2 });
    const disturbed = smallPages(chain, 100, async (page) => {
      if (page > 1) return;
      await order('reorg', { blocks: 2, transactions: 'drop' });
      await fund(own, '1');
      await fund(own, '2');
    });
    const warnings: string[] = [];
    const log = { ...follower().log, warn: (_fields: object, message: string) => warnings.push(message) };
    const { signal } = new AbortController();
    await indexChain({ ...follower(disturbed), log }, signal);
    await indexChain({ ...follower(), log }, signal);
    expect((await history(own)).map(({ amount }) => amount)).toEqual([1_000_000n, 2_000_000n]);
    expect(warnings).toEqual([]);
  });

  it('is noticed when it reaches below what was followed between two questions', async () => {
    const { chain, clock, follow, organization, wallet, fund, order, history, cursor } = world();
    const own = await wallet(await organization());
    await fund(own, '9');
    await follow();
    await fund(own, '1');
    const next = ((await cursor()) ?? -1) + 1;
    let asked = 0;
    const disturbed = wrapChain(chain, {
      block: async (number) => {
        if (number === next && ++asked === 1) {
          await order('reorg', { blocks: 2, transactions: 'drop' });
          await fund(own, '4');
          await fund(own, '5');
        }
        return chain.block(number);
      },
    });
    await follow(disturbed);
    await follow();
    clock.ms += RETURN_MS;
    await follow();
    const found = (await history(own)).map(({ amount, status }) => [amount, status]);
    expect(found).toEqual([
      [4_000_000n, 'SUCCESS'],
      [9_000_000n, 'FAILED'],
      [5_000_000n, 'SUCCESS'],
    ]);
  });

  it('leaves a follower that was slower than it with nothing to say', async () => {
    const { chain, follow, organization, wallet, fund, order, history } = world();
    const own = await wallet(await organization());
    await fund(own, '9');
    await follow();
    await fund(own, '1');
    const next = await chain.blockNumber();
    let asked = 0;
    const slow = wrapChain(chain, {
      block: async (number) => {
        const block = await chain.block(number);
        if (number !== next || ++asked < 3) return block;
        await order('reorg', { blocks: 2, transactions: 'drop' });
        await fund(own, '4');
        await fund(own, '5');
        await follow();
        return block;
      },
    });
    await follow(slow);
    expect(asked).toBe(3);
    expect((await history(own)).map(({ amount }) => amount)).toEqual([4_000_000n, 9_000_000n, 5_000_000n]);
  });

  it('is handled once by two followers that see it at once', async () => {
    const { follow, organization, wallet, fund, order, history, cursor, chain } = world();
    const own = await wallet(await organization());
    await follow();
    for (let n = 0; n < 3; n += 1) await fund(own);
    await follow();
    await order('reorg', { blocks: 2, transactions: 'requeue' });
    await fund(own);
    await Promise.all([follow(), follow(), follow()]);
    expect(await cursor()).toBe(await chain.blockNumber());
    expect((await history(own)).map(({ status }) => status)).toEqual(Array(4).fill('SUCCESS'));
  });
});
