import { toHex } from '@svc/starknet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { payment, relayer, startTestNode, type TestNode } from '../../testing/test-node.ts';
import type { InvokeTransaction } from '../execution/types.ts';
import { showTransaction } from './transaction.ts';

let test: TestNode;
beforeAll(async () => {
  test = await startTestNode();
});
afterAll(() => test.stop());

const status = (tx: InvokeTransaction) => test.call('getTransactionStatus', [toHex(tx.hash)]);
const refused = (tx: InvokeTransaction) =>
  test.fail('addInvokeTransaction', { invoke_transaction: showTransaction(tx) });
const nonceOf = (address: bigint) =>
  test.call('getNonce', { contract_address: toHex(address), block_id: 'pre_confirmed' });

describe('a transaction that is ahead of its account', () => {
  it('waits as RECEIVED until the gap is filled, and then all land in order', async () => {
    const from = relayer(1);
    const [first, second, third] = [0n, 1n, 2n].map((nonce) => payment(nonce, 0x1aan, { from }));
    if (!first || !second || !third) throw new Error('three were made');
    await test.send(third);
    await test.send(second);
    expect(await status(third)).toEqual({ finality_status: 'RECEIVED' });
    expect(await test.call('getTransactionByHash', [toHex(third.hash)])).toMatchObject({ nonce: '0x2' });
    expect((await test.fail('getTransactionReceipt', [toHex(third.hash)])).code).toBe(29);
    expect((await test.fail('traceTransaction', [toHex(third.hash)])).code).toBe(10);
    expect(await nonceOf(from.address)).toBe('0x0');
    await test.send(first);
    expect(await status(third)).toEqual({ finality_status: 'ACCEPTED_ON_L2', execution_status: 'SUCCEEDED' });
    expect(await nonceOf(from.address)).toBe('0x3');
    expect(await test.balance('STRK', 0x1aan)).toBe(3n);
  });

  it('is taken up to 200 ahead and refused with error 52 beyond', async () => {
    const from = relayer(2);
    await test.send(payment(200n, 0x2aan, { from }));
    expect(await refused(payment(201n, 0x2aan, { from }))).toMatchObject({
      code: 52,
      message: 'Invalid transaction nonce',
      data: expect.stringContaining('got: 0xc9'),
    });
  });

  it('is checked before it waits: a wrong signature is refused at once', async () => {
    const tx = payment(5n, 0x3aan, { from: relayer(3) });
    expect((await refused({ ...tx, signature: [1n, 2n] })).code).toBe(55);
  });

  it('is a duplicate when sent again, and is replaced only by one that pays more', async () => {
    const from = relayer(3);
    const waiting = payment(9n, 0x4aan, { from, tip: 5n });
    await test.send(waiting);
    expect((await refused(waiting)).code).toBe(59);
    expect((await refused(payment(9n, 0x5aan, { from, tip: 6n }))).code).toBe(64);
    const better = payment(9n, 0x5aan, { from, tip: 6n, price: 9_000_000_000n });
    await test.send(better);
    expect((await test.fail('getTransactionStatus', [toHex(waiting.hash)])).code).toBe(29);
    expect(await status(better)).toEqual({ finality_status: 'RECEIVED' });
  });
});

describe('a transaction whose nonce was used', () => {
  it('is a duplicate when it is the same one, and has a wrong nonce otherwise', async () => {
    const from = relayer(4);
    const tx = payment(0n, 0x6aan, { from });
    await test.send(tx);
    expect((await refused(tx)).code).toBe(59);
    expect(await refused(payment(0n, 0x7aan, { from }))).toMatchObject({
      code: 52,
      data: expect.stringContaining('Account nonce: 0x1; got: 0x0.'),
    });
  });
});
