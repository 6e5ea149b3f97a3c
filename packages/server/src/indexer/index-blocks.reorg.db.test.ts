import { sql } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { smallPages, wrapChain } from '../../testing/chain.ts';
import { useIndexer } from '../../testing/indexer.ts';
import { indexChain, STALE_MS } from './index-blocks.ts';
import { RETURN_MS } from './store-transfers.ts';

const fixture = useIndexer();

const blockOf = async (hash: string) => (await fixture().chain.receipt(BigInt(hash)))?.blockNumber ?? -1;

describe('a reorganisation that drops a transfer', () => {
  it('makes it fail, after the chain had time to bring it again', async () => {
    const { index, organization, wallet, fund, order, clock, history } = fixture();
    const own = await wallet(await organization());
    await index();
    await fund(own);
    await index();
    await order('reorg', { blocks: 1, transactions: 'drop' });
    await order('mine', { blocks: 1 });
    await index();
    clock.advance(RETURN_MS - 1);
    await index();
    expect(await history(own)).toMatchObject([{ status: 'SUCCESS' }]);
    clock.advance(1);
    await index();
    expect(await history(own)).toMatchObject([{ status: 'FAILED', confirmedAt: undefined }]);
  });

  it('waits with that until the blocks that took its place were followed', async () => {
    const { index, organization, wallet, fund, order, clock, history, cursor, chain } = fixture();
    const own = await wallet(await organization());
    await index();
    await fund(own);
    await order('mine', { blocks: 2 });
    await index();
    await order('reorg', { blocks: 3, transactions: 'drop' });
    await index();
    clock.advance(STALE_MS);
    await index();
    expect(await cursor()).toBe(await chain.blockNumber());
    clock.advance(10 * RETURN_MS);
    await index();
    expect(await history(own)).toMatchObject([{ status: 'SUCCESS' }]);
    await order('mine', { blocks: 1 });
    await index();
    clock.advance(RETURN_MS);
    await index();
    expect(await history(own)).toMatchObject([{ status: 'FAILED' }]);
  });

  it('waits anew when those blocks were taken back, too', async () => {
    const { index, organization, wallet, fund, order, clock, history } = fixture();
    const own = await wallet(await organization());
    await index();
    await fund(own);
    await index();
    await order('reorg', { blocks: 1, transactions: 'drop' });
    await order('mine', { blocks: 1 });
    await index();
    await order('reorg', { blocks: 1, transactions: 'drop' });
    await index();
    clock.advance(STALE_MS);
    await index();
    clock.advance(RETURN_MS);
    await index();
    expect(await history(own)).toMatchObject([{ status: 'SUCCESS' }]);
    await order('mine', { blocks: 1 });
    await index();
    expect(await history(own)).toMatchObject([{ status: 'FAILED' }]);
  });

  it('lets it succeed again when it comes back late, with the same hash, and tells each change once', async () => {
    const { db, index, organization, wallet, fund, order, clock, history } = fixture();
    const own = await wallet(await organization());
    await index();
    const hash = await fund(own);
    await index();
    await order('reorg', { blocks: 1, transactions: 'drop' });
    await order('mine', { blocks: 3 });
    await index();
    clock.advance(RETURN_MS);
    await index();
    expect(await history(own)).toMatchObject([{ status: 'FAILED' }]);
    expect(await fund(own)).toBe(hash);
    await index();
    expect(await history(own)).toMatchObject([{ status: 'SUCCESS', blockNumber: await blockOf(hash) }]);
    const events = await db.rows(sql`
      select type from events where organization_id = ${own.organizationId} order by id`);
    expect(events).toEqual(['transfer.received', 'transaction.failed', 'transfer.received'].map((type) => ({ type })));
  });
});

describe('a reorganisation that moves transfers into another block', () => {
  it('leaves them as they were, with the new block and its time', async () => {
    const { chain, index, organization, wallet, fund, order, clock, history } = fixture();
    const own = await wallet(await organization());
    await index();
    const hashes = [await fund(own, '1'), await fund(own, '2'), await fund(own, '3')];
    await index();
    const before = await history(own);
    await order('reorg', { blocks: 3, transactions: 'requeue' });
    await index();
    clock.advance(RETURN_MS);
    await order('mine', { blocks: 5 });
    await index();
    clock.advance(RETURN_MS);
    await index();
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
    const { chain, index, organization, wallet, fund, order, history, cursor } = fixture();
    const own = await wallet(await organization());
    await index();
    const start = await cursor();
    const hashes = [await fund(own, '1'), await fund(own, '2'), await fund(own, '3')];
    const disturbed = smallPages(chain, 2, async (page) => {
      if (page === 2) await order('reorg', { blocks: 3, transactions: 'requeue' });
    });
    await index(disturbed);
    expect(await history(own)).toEqual([]);
    expect(await cursor()).toBe(start);
    await index();
    const number = await blockOf(hashes[0] ?? '');
    const found = (await history(own)).map(({ transactionHash, blockNumber }) => [transactionHash, blockNumber]);
    expect(found).toEqual(hashes.map((hash) => [hash, number]));
  });

  it('is nothing to go back for when it happens above what was followed, while the events are read', async () => {
    const { chain, context, organization, wallet, fund, order, history } = fixture();
    const own = await wallet(await organization());
    await fixture().index();
    await order('mine', { blocks: 2 });
    const disturbed = smallPages(chain, 100, async (page) => {
      if (page > 1) return;
      await order('reorg', { blocks: 2, transactions: 'drop' });
      await fund(own, '1');
      await fund(own, '2');
    });
    const warnings: string[] = [];
    const log = { ...context().log, warn: (_fields: object, message: string) => warnings.push(message) };
    const { signal } = new AbortController();
    await indexChain({ ...context(disturbed), log }, signal);
    await indexChain({ ...context(), log }, signal);
    expect((await history(own)).map(({ amount }) => amount)).toEqual([1_000_000n, 2_000_000n]);
    expect(warnings).toEqual([]);
  });

  it('is noticed when it reaches below what was followed between two questions', async () => {
    const { chain, clock, index, organization, wallet, fund, order, history, cursor } = fixture();
    const own = await wallet(await organization());
    await fund(own, '9');
    await index();
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
    await index(disturbed);
    await index();
    clock.advance(RETURN_MS);
    await index();
    const found = (await history(own)).map(({ amount, status }) => [amount, status]);
    expect(found).toEqual([
      [4_000_000n, 'SUCCESS'],
      [9_000_000n, 'FAILED'],
      [5_000_000n, 'SUCCESS'],
    ]);
  });

  it('leaves a follower that was slower than it with nothing to say', async () => {
    const { chain, index, organization, wallet, fund, order, history } = fixture();
    const own = await wallet(await organization());
    await fund(own, '9');
    await index();
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
        await index();
        return block;
      },
    });
    await index(slow);
    expect(asked).toBe(3);
    expect((await history(own)).map(({ amount }) => amount)).toEqual([4_000_000n, 9_000_000n, 5_000_000n]);
  });

  it('is handled once by two followers that see it at once', async () => {
    const { index, organization, wallet, fund, order, history, cursor, chain } = fixture();
    const own = await wallet(await organization());
    await index();
    for (let n = 0; n < 3; n += 1) await fund(own);
    await index();
    await order('reorg', { blocks: 2, transactions: 'requeue' });
    await fund(own);
    await Promise.all([index(), index(), index()]);
    expect(await cursor()).toBe(await chain.blockNumber());
    expect((await history(own)).map(({ status }) => status)).toEqual(Array(4).fill('SUCCESS'));
  });
});
