import { toHex } from '@svc/starknet';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { payment, startTestNode, type TestNode } from '../../testing/test-node.ts';
import { starknetToken } from '../tokens.ts';

let test: TestNode;
beforeEach(async () => {
  test = await startTestNode();
});
afterEach(() => test.stop());

/** No block seals itself during a test. */
const LONG = 3_600;
const finality = async (hash: string) =>
  (await test.call<{ finality_status: string }>('getTransactionStatus', [hash])).finality_status;

describe('blocks at an interval', () => {
  it('show a transaction as pre-confirmed, then accepted on L2, then on L1', async () => {
    await test.node.command({ do: 'set-block-time', seconds: LONG, l1AfterBlocks: 2 });
    const hash = await test.send(payment(0n));
    expect(await finality(hash)).toBe('PRE_CONFIRMED');
    await test.node.command({ do: 'mine', blocks: 1 });
    expect(await finality(hash)).toBe('ACCEPTED_ON_L2');
    await test.node.command({ do: 'mine', blocks: 2 });
    expect(await finality(hash)).toBe('ACCEPTED_ON_L1');
    const l1 = await test.call('getBlockWithTxHashes', ['l1_accepted']);
    expect(l1).toMatchObject({ status: 'ACCEPTED_ON_L1', transactions: [hash] });
  });

  it('show the open block on pre_confirmed only', async () => {
    await test.node.command({ do: 'set-block-time', seconds: LONG });
    const hashes = [await test.send(payment(0n)), await test.send(payment(1n))];
    expect(await test.balance('STRK', 0xb0bn, 'latest')).toBe(0n);
    expect(await test.balance('STRK', 0xb0bn, 'pre_confirmed')).toBe(2n);

    const open = await test.call<Record<string, unknown>>('getBlockWithTxHashes', ['pre_confirmed']);
    expect(open).toMatchObject({ block_number: 1, transactions: hashes });
    expect(Object.keys(open)).not.toContain('block_hash');
    const receipt = await test.call<Record<string, unknown>>('getTransactionReceipt', [hashes[1]]);
    expect(receipt).toMatchObject({ finality_status: 'PRE_CONFIRMED', block_number: 1 });
    expect(Object.keys(receipt)).not.toContain('block_hash');

    const filter = { from_block: { block_number: 0 }, chunk_size: 100, keys: [[], [], [toHex(0xb0bn)]] };
    const found = async (to_block: string) =>
      (await test.call<{ events: unknown[] }>('getEvents', [{ ...filter, to_block }])).events.length;
    expect([await found('latest'), await found('pre_confirmed')]).toEqual([0, 2]);
  });

  it('put what arrives in between into one block, in the order of arrival', async () => {
    await test.node.command({ do: 'set-block-time', seconds: LONG });
    const hashes = [];
    for (const nonce of [0n, 1n, 2n]) hashes.push(await test.send(payment(nonce)));
    await test.node.command({ do: 'mine', blocks: 1 });
    const block = await test.call('getBlockWithTxHashes', ['latest']);
    expect(block).toMatchObject({ block_number: 1, transaction_count: 3, transactions: hashes });
    const second = await test.call('getTransactionByBlockIdAndIndex', ['latest', 1]);
    expect(second).toMatchObject({ transaction_hash: hashes[1] });
  });

  it('come by themselves, with or without transactions', async () => {
    await test.node.command({ do: 'set-block-time', seconds: 1 });
    const hash = await test.send(payment(0n));
    await vi.waitFor(async () => expect(await test.call('blockNumber')).toBeGreaterThan(1), { timeout: 60_000 });
    expect(await finality(hash)).toBe('ACCEPTED_ON_L2');
  });

  it('do not keep the tokens of the faucet waiting', async () => {
    await test.node.command({ do: 'set-block-time', seconds: LONG });
    const token = starknetToken('USDC').address;
    await test.node.command({ do: 'fund', funding: { token, to: 0xf00dn, amount: 7n } });
    expect(await test.balance('USDC', 0xf00dn, 'latest')).toBe(7n);
  });

  it('end with the return to instant blocks, and nothing is left open', async () => {
    await test.node.command({ do: 'set-block-time', seconds: LONG });
    const open = await test.send(payment(0n));
    await test.node.command({ do: 'set-block-time', seconds: 0 });
    expect(await finality(open)).toBe('ACCEPTED_ON_L2');
    expect(await finality(await test.send(payment(1n)))).toBe('ACCEPTED_ON_L2');
  });
});

describe('time travel', () => {
  it('moves the time of blocks and calls, forth and back', async () => {
    const timestamp = async (id: unknown) =>
      (await test.call<{ timestamp: number }>('getBlockWithTxHashes', [id])).timestamp;
    const start = await timestamp('latest');
    await test.node.command({ do: 'increase-time', seconds: 86_400 });
    expect(await timestamp('latest')).toBeGreaterThanOrEqual(start + 86_400);
    await test.node.command({ do: 'increase-time', seconds: 86_400 });
    expect(await timestamp('pre_confirmed')).toBeGreaterThanOrEqual(start + 2 * 86_400);
    await test.node.command({ do: 'set-time', offsetSeconds: 0 });
    expect(await timestamp('latest')).toBeLessThan(start + 86_400);
  });
});
