import type { Reads } from '@svc/store';
import { describe, expect, it } from 'vitest';
import type { Head } from './head.ts';
import { type Block, BlockContents } from './queries.ts';

const head = { number: 500, version: 500 } as Head;

function block(number: number, hash: string | undefined): Block {
  return { number, hash, timestamp: 1, version: number, finality: 'ACCEPTED_ON_L2' };
}

/** Counts the reads of a block's transactions; the first `failures` of them fail. */
function countingReads(failures = 0) {
  const counts = { lists: 0 };
  const reads = {
    one: async () => ({ version: 1, parent_hash: '0x1', transactions: 1n, events: 2n, changes: 3n }),
    rows: async () => {
      counts.lists += 1;
      if (counts.lists <= failures) throw new Error('The connection is gone.');
      return [{ hash: '0xabc', l1_gas: 0n, l1_data_gas: 0n, l2_gas: 0n }];
    },
  } as unknown as Reads;
  return { counts, reads };
}

describe('what a block contains', () => {
  it('is read once for each sealed block, also when asked for at the same time', async () => {
    const { counts, reads } = countingReads();
    const blocks = new BlockContents();
    const ask = (hash: string) => blocks.of(reads, head, block(7, hash));
    const [one] = await Promise.all([ask('0x7'), ask('0x7')]);
    expect(one).toEqual({ details: { parentHash: '0x1', transactions: 1, events: 2, changes: 3 }, hashes: ['0xabc'] });
    expect(await ask('0x7')).toEqual(one);
    expect(counts.lists).toBe(1);
    await ask('0x77, which replaced it');
    expect(counts.lists).toBe(2);
  });

  it('is read every time while the block is open', async () => {
    const { counts, reads } = countingReads();
    const blocks = new BlockContents();
    await blocks.of(reads, head, block(8, undefined));
    await blocks.of(reads, head, block(8, undefined));
    expect(counts.lists).toBe(2);
  });

  it('is read again after a failure', async () => {
    const { reads } = countingReads(1);
    const blocks = new BlockContents();
    await expect(blocks.of(reads, head, block(7, '0x7'))).rejects.toThrow('gone');
    expect((await blocks.of(reads, head, block(7, '0x7'))).hashes).toEqual(['0xabc']);
  });

  it('is kept for the 64 blocks that were asked for last', async () => {
    const { counts, reads } = countingReads();
    const blocks = new BlockContents();
    for (let number = 0; number <= 64; number++) await blocks.of(reads, head, block(number, `0x${number}`));
    expect(counts.lists).toBe(65);
    await blocks.of(reads, head, block(64, '0x64'));
    expect(counts.lists).toBe(65);
    await blocks.of(reads, head, block(0, '0x0'));
    expect(counts.lists).toBe(66);
  });
});
