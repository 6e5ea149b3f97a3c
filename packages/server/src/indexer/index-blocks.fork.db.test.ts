import { sql } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { wrapChain } from '../../testing/chain.ts';
import { settledRelay, stateOfRelay, useIndexer } from '../../testing/indexer.ts';
import { STALE_MS } from './index-blocks.ts';
import { RETURN_MS } from './store-transfers.ts';

const fixture = useIndexer();
const insertRelay = (number: number, hash: bigint) => settledRelay(fixture(), number, hash);
const stateOf = (id: string) => stateOfRelay(fixture(), id);

describe('a node that lags behind', () => {
  it('is no reorganisation, and nothing changes', async () => {
    const { index, organization, wallet, fund, order, clearFaults, clock, history, cursor } = fixture();
    const own = await wallet(await organization());
    await index();
    await fund(own);
    await index();
    const [start, before] = [await cursor(), await history(own)];
    const relayId = await insertRelay(start ?? -1, (await fixture().chain.block(start ?? -1))?.hash ?? 0n);
    await order('faults', { kind: 'stale', blocks: 3, seconds: 3_600 });
    await index();
    clock.advance(STALE_MS - 1);
    await index();
    await clearFaults();
    await index();
    // The time begins anew with the next lag.
    await order('faults', { kind: 'stale', blocks: 3, seconds: 3_600 });
    await index();
    clock.advance(STALE_MS - 1);
    await index();
    await clearFaults();
    expect(await cursor()).toBe(start);
    expect(await history(own)).toEqual(before);
    expect(await stateOf(relayId)).toBe('SUCCEEDED');
  });

  it('counts as a shorter chain after a while, and everything is found again once it catches up', async () => {
    const { index, organization, wallet, fund, order, clearFaults, clock, history, cursor } = fixture();
    const own = await wallet(await organization());
    await index();
    await fund(own);
    await order('mine', { blocks: 1 });
    await index();
    const [start = 0, before] = [await cursor(), await history(own)];
    await order('faults', { kind: 'stale', blocks: 3, seconds: 3_600 });
    await index();
    clock.advance(STALE_MS);
    await index();
    expect(await cursor()).toBeLessThanOrEqual(start - 3);
    await clearFaults();
    clock.advance(2 * RETURN_MS);
    await index();
    expect(await cursor()).toBe(start);
    expect(await history(own)).toEqual(before);
  });
});

describe('a node that is only beginning to read the chain', () => {
  it('is never taken for a shorter chain', async () => {
    const { db, chain, clock, index, order, cursor } = fixture();
    await order('mine', { blocks: 1 });
    await index();
    const start = await cursor();
    await db.run(sql`delete from followed_blocks where block_number < ${start}`);
    const beginner = wrapChain(chain, { head: async () => ({ number: 0, hash: 1n }) });
    await index(beginner);
    clock.advance(10 * STALE_MS);
    await index(beginner);
    expect(await cursor()).toBe(start);
  });
});

describe('a reorganisation deeper than what is remembered', () => {
  it('goes back further, and nothing is lost or doubled', async () => {
    const { db, chain, index, organization, wallet, fund, history, cursor } = fixture();
    const own = await wallet(await organization());
    await index();
    await fund(own, '1');
    await index();
    const before = await history(own);
    await fund(own, '2');
    // As if another block of this number had been followed, and no earlier one were remembered.
    const head = await chain.blockNumber();
    await db.tx(async (tx) => {
      await tx.run(sql`update followed_chains set block_number = ${head}, block_hash = '0xdead'`);
      await tx.run(sql`delete from followed_blocks`);
    });
    await index();
    expect(await cursor()).toBe(head);
    expect((await history(own)).map(({ amount }) => amount)).toEqual([1_000_000n, 2_000_000n]);
    expect((await history(own)).slice(0, 1)).toEqual(before);
  });
});
