import { toHex } from '@svc/starknet';
import { sql } from '@svc/store';
import { TestDatabase } from '@svc/store/testing';
import { describe, expect, it } from 'vitest';
import { payment, startTestNode } from '../../testing/test-node.ts';
import { sandbox } from '../index.ts';
import { starknetToken } from '../tokens.ts';

describe('the first block', () => {
  it('is made once, by processes that start together too', async () => {
    const database = await TestDatabase.create([sandbox.migrations]);
    const nodes = await Promise.all([1, 2, 3].map(() => startTestNode({ database })));
    const blocks = await Promise.all(nodes.map((node) => node.call('getBlockWithTxHashes', ['latest'])));
    expect(blocks[0]).toMatchObject({ block_number: 0, parent_hash: '0x0' });
    expect(blocks.slice(1)).toEqual([blocks[0], blocks[0]]);
    for (const node of nodes) await node.stop();
    await database.drop();
  });

  it('gets what a newer version brings, and keeps what has happened since', async () => {
    const old = await startTestNode();
    const { db } = old.database;
    const usdt = toHex(starknetToken('USDT').address);
    await db.run(sql`delete from sandbox.state where contract = ${usdt}`);
    await db.run(sql`update sandbox.chain set genesis = 'older'`);
    await old.send(payment(0n));
    expect((await old.fail('getClassHashAt', ['latest', usdt])).code).toBe(20);
    const newer = await startTestNode({ database: old.database });
    for (const node of [newer, old]) {
      expect(await node.call('getClassHashAt', ['latest', usdt])).toMatch(/^0x/);
      expect(await node.balance('STRK', 0xb0bn)).toBe(1n);
      expect(await node.call('blockNumber')).toBe(1);
    }
    await newer.stop();
    await old.stop();
  });
});
