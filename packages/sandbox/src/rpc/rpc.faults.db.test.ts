import { toHex } from '@svc/starknet';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { payment, relayer, startTestNode, type TestNode } from '../../testing/test-node.ts';
import type { NewFault } from '../chain/faults.ts';
import { showTransaction } from '../chain/transaction.ts';

let test: TestNode;
let nextNonce = 0n;
beforeAll(async () => {
  test = await startTestNode();
});
afterEach(async () => {
  await test.node.command({ do: 'clear-faults' });
  expect(test.complaints).toEqual([]);
});
afterAll(() => test.stop());

const order = (fault: Omit<NewFault, 'seconds'>) =>
  test.node.command({ do: 'add-fault', fault: { seconds: 60, ...fault } });
const body = (method: string, params: unknown = []) =>
  JSON.stringify({ jsonrpc: '2.0', id: 7, method: `starknet_${method}`, params });
/** The next transaction of the first relayer. */
const next = () => payment(nextNonce, 0xfa17n);
const rpc = (text: string) => test.node.rpc(text, '0.10.0');

describe('transactions, by order', () => {
  it('revert with the reason, as often as ordered and no more', async () => {
    await order({ kind: 'revert', reason: 'out of luck', count: 2 });
    const outcomes = [];
    for (let times = 0; times < 3; times++) {
      const hash = await test.send(next());
      nextNonce++;
      outcomes.push(await test.call<{ revert_reason?: string }>('getTransactionReceipt', [hash]));
    }
    expect(outcomes.map((one) => one.revert_reason)).toEqual(['out of luck', 'out of luck', undefined]);
  });

  it('are rejected by validation and take no nonce', async () => {
    await order({ kind: 'reject', reason: 'not today', count: 1 });
    const tx = next();
    const params = { invoke_transaction: showTransaction(tx) };
    expect(await test.fail('addInvokeTransaction', params)).toMatchObject({ code: 55, data: 'not today' });
    await test.send(tx);
    nextNonce++;
  });

  it('are acknowledged and never heard of again', async () => {
    await order({ kind: 'forget', count: 1 });
    const tx = next();
    expect(await test.send(tx)).toBe(toHex(tx.hash));
    expect((await test.fail('getTransactionStatus', [toHex(tx.hash)])).code).toBe(29);
    await test.send(tx);
    nextNonce++;
    expect(await test.call('getTransactionStatus', [toHex(tx.hash)])).toMatchObject({ execution_status: 'SUCCEEDED' });
  });

  it('are executed although the answer is lost', async () => {
    await order({ kind: 'lose-answer', count: 1 });
    const tx = next();
    const answer = await rpc(body('addInvokeTransaction', { invoke_transaction: showTransaction(tx) }));
    nextNonce++;
    expect(answer.hangUp).toBe(true);
    expect(await test.call('getTransactionStatus', [toHex(tx.hash)])).toMatchObject({ execution_status: 'SUCCEEDED' });
  });

  it('of the faucet are spared', async () => {
    await order({ kind: 'revert', count: 1 });
    await order({ kind: 'reject', count: 1 });
    const funding = {
      token: 0x4718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938dn,
      to: 0xf00dn,
      amount: 5n,
    };
    await test.node.command({ do: 'fund', funding });
    expect(await test.balance('STRK', 0xf00dn)).toBe(5n);
  });
});

describe('the node, by order', () => {
  it('answers with a JSON-RPC error of the given code', async () => {
    await order({ kind: 'error', code: -32_000, message: 'too hot', count: 1 });
    expect(await test.fail('chainId')).toEqual({ code: -32_000, message: 'too hot' });
    await test.call('chainId');
  });

  it('is unavailable: HTTP 503 for the whole request', async () => {
    await order({ kind: 'unavailable', count: 1 });
    const batch = `[${body('chainId')},${body('blockNumber')}]`;
    expect(await rpc(batch)).toMatchObject({ status: 503 });
    expect(await rpc(batch)).toMatchObject({ status: 200 });
  });

  it('obeys for one method only, where the order names one', async () => {
    await order({ kind: 'error', code: 1, message: 'no', method: 'starknet_blockNumber', count: 1 });
    await test.call('chainId');
    expect((await test.fail('blockNumber')).code).toBe(1);
  });

  it('sees the chain as it was some blocks ago', async () => {
    const hash = await test.send(next());
    nextNonce++;
    const number = await test.call<number>('blockNumber');
    const account = { contract_address: toHex(relayer(1).address), block_id: 'latest' };
    await order({ kind: 'stale', blocks: 1 });
    expect(await test.call('blockNumber')).toBe(number - 1);
    expect((await test.fail('getTransactionReceipt', [hash])).code).toBe(29);
    expect((await test.fail('getBlockWithTxHashes', [{ block_number: number }])).code).toBe(24);
    expect(await test.call('getNonce', account)).toBe(toHex(nextNonce - 1n));
    await test.node.command({ do: 'clear-faults' });
    expect(await test.call('getNonce', account)).toBe(toHex(nextNonce));
  });

  it('answers slowly, and sees what happened meanwhile', async () => {
    await order({ kind: 'slow', delayMs: 200, method: 'starknet_blockNumber', count: 1 });
    const number = test.call<number>('blockNumber');
    const after = await test.send(next());
    nextNonce++;
    const { block_number } = await test.call<{ block_number: number }>('getTransactionReceipt', [after]);
    expect(await number).toBe(block_number);
  });

  it('lists the orders in force, obeyed by every process alike', async () => {
    await order({ kind: 'error', code: 5, message: 'five', count: 2 });
    const other = await startTestNode({ database: test.database });
    expect((await other.fail('chainId')).code).toBe(5);
    const listed = (await other.node.command({ do: 'list-faults' })) as { faults: unknown[] };
    expect(listed.faults).toMatchObject([{ kind: 'error', code: 5, message: 'five', remaining: 1 }]);
    expect((await test.fail('chainId')).code).toBe(5);
    expect(await test.node.command({ do: 'list-faults' })).toEqual({ faults: [] });
    await other.stop();
  });
});
