import { toHex } from '@svc/starknet';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { invoke, payment, relayer, startTestNode, type TestNode, transfer } from '../../testing/test-node.ts';

let test: TestNode;
beforeAll(async () => {
  test = await startTestNode();
});
afterEach(() => expect(test.complaints).toEqual([]));
afterAll(() => test.stop());

const status = (hash: string) => test.call('getTransactionStatus', [hash]);

describe('a chain with instant blocks', () => {
  it('gives every transaction its own block, and has it there when it is acknowledged', async () => {
    const before = await test.call<number>('blockNumber');
    const hash = await test.send(payment(0n));
    expect(await test.call('blockNumber')).toBe(before + 1);
    const receipt = await test.call<Record<string, unknown>>('getTransactionReceipt', [hash]);
    expect(receipt).toMatchObject({ block_number: before + 1, finality_status: 'ACCEPTED_ON_L2' });
    const block = await test.call('getBlockWithTxHashes', ['latest']);
    expect(block).toMatchObject({ block_hash: receipt.block_hash, transactions: [hash], transaction_count: 1 });
    expect(await test.balance('STRK', 0xb0bn)).toBe(1n);
  });

  it('shows the state at every block', async () => {
    const from = relayer(2);
    const start = await test.call<number>('blockNumber');
    for (const nonce of [0n, 1n, 2n]) await test.send(payment(nonce, 0xcafen, { from }));
    const at = (number: number) => test.balance('STRK', 0xcafen, { block_number: number });
    expect([await at(start), await at(start + 1), await at(start + 2), await at(start + 3)]).toEqual([0n, 1n, 2n, 3n]);
    const nonce = { contract_address: toHex(from.address), block_id: { block_number: start + 2 } };
    expect(await test.call('getNonce', nonce)).toBe('0x2');
  });

  it('takes transactions that arrive together, each in a block of its own', async () => {
    const from = relayer(3);
    const start = await test.call<number>('blockNumber');
    const sent = Array.from({ length: 12 }, (_, nonce) => payment(BigInt(nonce), 0xfeedn, { from }));
    const hashes = await Promise.all(sent.map((tx) => test.send(tx)));
    expect(await test.call('blockNumber')).toBe(start + 12);
    expect(await test.balance('STRK', 0xfeedn)).toBe(12n);
    const receipts = await Promise.all(
      hashes.map((hash) => test.call<{ block_number: number }>('getTransactionReceipt', [hash])),
    );
    expect(new Set(receipts.map((receipt) => receipt.block_number)).size).toBe(12);
  });

  it('chains the blocks by their hashes', async () => {
    const latest = await test.call<number>('blockNumber');
    type Linked = { block_hash: string; parent_hash: string };
    const blocks = await Promise.all(
      Array.from({ length: latest + 1 }, (_, block_number) =>
        test.call<Linked>('getBlockWithTxHashes', [{ block_number }]),
      ),
    );
    expect(blocks.slice(1).map((block) => block.parent_hash)).toEqual(blocks.slice(0, -1).map((b) => b.block_hash));
  });

  it('keeps a reverted transaction: nonce and fee are gone, the transfer is not', async () => {
    const from = relayer(4);
    const before = await test.balance('STRK', from.address);
    const tooMuch = transfer('USDC', 0xdeadn, 1n);
    const hash = await test.send(invoke([transfer('STRK', 0xdeadn, 5n), tooMuch], { nonce: 0n, from }));
    const receipt = await test.call<{ actual_fee: { amount: string }; events: { keys: string[] }[] }>(
      'getTransactionReceipt',
      [hash],
    );
    expect(receipt).toMatchObject({ execution_status: 'REVERTED', revert_reason: expect.any(String) });
    expect(await status(hash)).toMatchObject({ execution_status: 'REVERTED', failure_reason: expect.any(String) });
    expect(await test.balance('STRK', 0xdeadn)).toBe(0n);
    expect(await test.balance('STRK', from.address)).toBe(before - BigInt(receipt.actual_fee.amount));
    const account = { contract_address: toHex(from.address), block_id: 'latest' };
    expect(await test.call('getNonce', account)).toBe('0x1');
  });
});
