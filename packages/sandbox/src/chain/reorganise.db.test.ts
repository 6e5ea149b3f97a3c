import { toHex } from '@svc/starknet';
import { sql } from '@svc/store';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { payment, relayer, startTestNode, type TestNode } from '../../testing/test-node.ts';

let test: TestNode;
beforeEach(async () => {
  test = await startTestNode();
});
afterEach(() => test.stop());

const nonce = () => test.call('getNonce', { contract_address: toHex(relayer(1).address), block_id: 'latest' });

async function sendThree(): Promise<string[]> {
  const hashes = [];
  for (const number of [0n, 1n, 2n]) hashes.push(await test.send(payment(number)));
  return hashes;
}

/** Rows left of removed transactions. */
const orphans = () =>
  test.database.db.one(sql`
    select (select count(*) from sandbox.events where version > 1) as events,
           (select count(*) from sandbox.state where version > 1) as state`);

describe('a reorganisation', () => {
  it('that drops leaves neither blocks, transactions, events nor state, and the chain goes on', async () => {
    const hashes = await sendThree();
    const gone = await test.call<{ block_hash: string }>('getBlockWithTxHashes', ['latest']);
    const answer = await test.node.command({ do: 'reorganise', blocks: 2, transactions: 'drop' });
    expect(answer).toMatchObject({ blockNumber: 1, dropped: hashes.slice(1), requeued: [] });
    expect((await test.fail('getTransactionReceipt', [hashes[2]])).code).toBe(29);
    expect((await test.fail('getBlockWithTxHashes', [{ block_hash: gone.block_hash }])).code).toBe(24);
    expect(await test.balance('STRK', 0xb0bn)).toBe(1n);
    expect(await nonce()).toBe('0x1');
    const filter = { from_block: { block_number: 0 }, chunk_size: 100, keys: [[], [], [toHex(0xb0bn)]] };
    expect((await test.call<{ events: unknown[] }>('getEvents', [filter])).events).toHaveLength(1);
    expect(await orphans()).toEqual({ events: 0n, state: 0n });
    await test.send(payment(1n, 0xcafen));
    const next = await test.call<{ block_hash: string }>('getBlockWithTxHashes', [{ block_number: 2 }]);
    expect(next.block_hash).not.toBe(gone.block_hash);
    expect(await test.balance('STRK', 0xb0bn)).toBe(1n);
    expect(await test.balance('STRK', 0xcafen)).toBe(1n);
  });

  it('that requeues executes the same transactions again, in another block', async () => {
    const hashes = await sendThree();
    const before = await test.call<{ block_hash: string }>('getTransactionReceipt', [hashes[2]]);
    const answer = await test.node.command({ do: 'reorganise', blocks: 2, transactions: 'requeue' });
    expect(answer).toMatchObject({ blockNumber: 2, dropped: [], requeued: hashes.slice(1) });
    const after = await test.call<{ block_hash: string }>('getTransactionReceipt', [hashes[2]]);
    expect(after).toMatchObject({ block_number: 2, execution_status: 'SUCCEEDED' });
    expect(after.block_hash).not.toBe(before.block_hash);
    expect(await test.balance('STRK', 0xb0bn)).toBe(3n);
    expect(await nonce()).toBe('0x3');
  });

  it('takes the open block along and stops at the first block', async () => {
    await test.send(payment(0n));
    await test.node.command({ do: 'set-block-time', seconds: 3_600 });
    const open = await test.send(payment(1n));
    await test.node.command({ do: 'reorganise', blocks: 50, transactions: 'drop' });
    expect(await test.call('blockNumber')).toBe(0);
    expect((await test.fail('getTransactionStatus', [open])).code).toBe(29);
    expect(await test.balance('STRK', 0xb0bn, 'pre_confirmed')).toBe(0n);
  });

  it('is seen by other processes in spite of their caches', async () => {
    const other = await startTestNode({ database: test.database });
    await sendThree();
    expect(await other.balance('STRK', 0xb0bn)).toBe(3n);
    await test.node.command({ do: 'reorganise', blocks: 2, transactions: 'drop' });
    expect(await other.balance('STRK', 0xb0bn)).toBe(1n);
    await other.send(payment(1n));
    expect(await test.balance('STRK', 0xb0bn)).toBe(2n);
    await other.stop();
  });
});
