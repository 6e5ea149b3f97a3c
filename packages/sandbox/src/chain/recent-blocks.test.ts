import type { Reads } from '@svc/store';
import { describe, expect, it } from 'vitest';
import type { Draft } from './draft.ts';
import type { Head } from './head.ts';
import type { Block } from './queries.ts';
import { RecentBlocks } from './recent-blocks.ts';

const head = { number: 500, version: 500, sealedVersion: 500, reorganisations: 0 } as Head;

function block(number: number, hash: string | undefined): Block {
  return { number, hash, timestamp: 1, version: number, finality: 'ACCEPTED_ON_L2' };
}

/** Counts the reads; the first `failures` of them fail. */
function countingReads(failures = 0) {
  const counts = { reads: 0 };
  const read = async () => {
    counts.reads += 1;
    if (counts.reads <= failures) throw new Error('The connection is gone.');
    return { parent_hash: '0x1', hashes: ['0xabc'], events: 2n, changes: 3n };
  };
  return { counts, reads: { one: read, rows: async () => [await read()] } as unknown as Reads };
}

describe('what a block contains', () => {
  it('is read once for each sealed block, also when asked for at the same time', async () => {
    const { counts, reads } = countingReads();
    const blocks = new RecentBlocks();
    const ask = (hash: string) => blocks.content(reads, head, block(7, hash));
    const [one] = await Promise.all([ask('0x7'), ask('0x7')]);
    expect(one).toEqual({ details: { parentHash: '0x1', transactions: 1, events: 2, changes: 3 }, hashes: ['0xabc'] });
    expect(await ask('0x7')).toEqual(one);
    expect(counts.reads).toBe(1);
    await ask('0x77, which replaced it');
    expect(counts.reads).toBe(2);
  });

  it('is read every time while the block is open', async () => {
    const { counts, reads } = countingReads();
    const blocks = new RecentBlocks();
    await blocks.content(reads, head, block(8, undefined));
    await blocks.content(reads, head, block(8, undefined));
    expect(counts.reads).toBe(2);
  });

  it('is read again after a failure', async () => {
    const { reads } = countingReads(1);
    const blocks = new RecentBlocks();
    await expect(blocks.content(reads, head, block(7, '0x7'))).rejects.toThrow('gone');
    expect((await blocks.content(reads, head, block(7, '0x7'))).hashes).toEqual(['0xabc']);
  });

  it('is kept for the 64 blocks that were asked for last', async () => {
    const { counts, reads } = countingReads();
    const blocks = new RecentBlocks();
    for (let number = 0; number <= 64; number++) await blocks.content(reads, head, block(number, `0x${number}`));
    expect(counts.reads).toBe(65);
    await blocks.content(reads, head, block(64, '0x64'));
    expect(counts.reads).toBe(65);
    await blocks.content(reads, head, block(0, '0x0'));
    expect(counts.reads).toBe(66);
  });
});

const transaction = (version: number, hash: string, calldata: readonly string[] = []) => ({
  version,
  hash,
  block_number: version,
  index: 0,
  transaction: { type: 'INVOKE', calldata },
});

/** One transaction in each block after `head`. */
const draftOf = (after: Head, hashes: readonly string[], calldata?: readonly string[]) => {
  const versions = hashes.map((_, index) => after.version + 1 + index);
  const last = versions.at(-1) ?? after.version;
  return {
    head: { ...after, number: last, version: last, sealedVersion: last },
    blocks: versions.map((number) => ({
      number,
      hash: `0xb${number}`,
      parent_hash: `0xb${number - 1}`,
      version: number,
    })),
    transactions: versions.map((version, index) => transaction(version, hashes[index] ?? '', calldata)),
    events: versions.map((version) => ({ version, index: 0, from_address: '0x1', keys: ['0x2'], data: [] })),
    state: versions.flatMap((version) => ['0xa', '0xa', '0xb'].map((slot) => ({ contract: '0x1', slot, version }))),
  } as unknown as Draft;
};

describe('what this process stored', () => {
  it('is answered without the database', async () => {
    const { counts, reads } = countingReads();
    const blocks = new RecentBlocks();
    const draft = draftOf(head, ['0xa', '0xb']);
    blocks.add(head, draft);
    const found = await blocks.withEvents(reads, draft.head, '0xb');
    expect(found).toMatchObject({ tx: { hash: '0xb', block_hash: '0xb502' }, events: [{ from_address: '0x1' }] });
    const block = await blocks.block(reads, draft.head, { number: 501 }, 0);
    expect(block).toMatchObject({ number: 501, hash: '0xb501', version: 501 });
    const details = { parentHash: '0xb500', transactions: 1, events: 1, changes: 2 };
    expect(block && (await blocks.content(reads, draft.head, block))).toEqual({ details, hashes: ['0xa'] });
    expect(counts.reads).toBe(0);
  });

  it.each([
    ['after a reorganisation', { reorganisations: 1 }],
    ['for whom the chain ends before it', { number: 500, version: 500 }],
  ])('is not answered %s', async (_when, change) => {
    const { counts, reads } = countingReads();
    const blocks = new RecentBlocks();
    const draft = draftOf(head, ['0xa']);
    blocks.add(head, draft);
    await blocks.transaction(reads, { ...draft.head, ...change }, '0xa');
    expect(counts.reads).toBe(1);
  });

  it('is not kept where an earlier draft began the block', async () => {
    const { counts, reads } = countingReads();
    const blocks = new RecentBlocks();
    const open = { ...head, sealedVersion: head.version - 1 };
    const draft = draftOf(open, ['0xa']);
    blocks.add(open, draft);
    await blocks.transaction(reads, draft.head, '0xa');
    expect(counts.reads).toBe(1);
  });

  it('is forgotten, the oldest first, where it is too much', async () => {
    const { counts, reads } = countingReads();
    const blocks = new RecentBlocks();
    let last = head;
    for (let round = 0; round < 25; round++) {
      const draft = draftOf(last, [`0xa${round}`], Array<string>(4_500).fill('0x1'));
      blocks.add(last, draft);
      last = draft.head;
    }
    await blocks.transaction(reads, last, '0xa24');
    expect(counts.reads).toBe(0);
    await blocks.transaction(reads, last, '0xa0');
    expect(counts.reads).toBe(1);
  });
});
