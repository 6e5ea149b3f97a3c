import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { payment, startTestNode, type TestNode } from '../../testing/test-node.ts';
import { showTransaction } from '../chain/transaction.ts';
import { methods } from './rpc.ts';

let test: TestNode;
beforeAll(async () => {
  test = await startTestNode();
});
afterAll(() => test.stop());

const good = showTransaction(payment(0n));
const blockId = fc.constantFrom<unknown>('latest', 'pre_confirmed', { block_number: 0 });
/** Valid, almost valid and invalid values. */
const value = fc.oneof(
  blockId,
  fc.constantFrom<unknown>('0x1', '0x0', '0xG', '-1', '0x', `0x${'f'.repeat(64)}`, `0x${'1'.repeat(5_000)}`),
  fc.constantFrom<unknown>(
    [],
    {},
    null,
    true,
    0,
    -1,
    1e21,
    1.5,
    [[]],
    ['0x1'],
    { block_hash: null },
    '\u0000',
    '__proto__',
  ),
  fc.constantFrom<unknown>(good, [good], { ...good, calldata: null }, { ...good, nonce: `0x${'f'.repeat(62)}` }),
  fc.constantFrom<unknown>(
    { chunk_size: 5, keys: [['0x1'], null] },
    { chunk_size: 5, continuation_token: '999999999-999999999' },
    { contract_address: '0x1', entry_point_selector: '0x1', calldata: ['0x1'] },
  ),
  fc.jsonValue({ maxDepth: 3 }),
);

describe('any input', () => {
  it.each([...methods.keys()])('%s answers a result or an error of its own, never an internal one', async (method) => {
    const names = methods.get(method)?.params ?? [];
    const params = fc.oneof(
      fc.array(value, { maxLength: names.length }),
      fc.record(Object.fromEntries(names.map((name) => [name, value])), { requiredKeys: [] }),
    );
    await fc.assert(
      fc.asyncProperty(params, async (sent) => {
        const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: sent });
        const { error } = JSON.parse((await test.node.rpc(body, '0.10.0')).body) as { error?: { code: number } };
        expect(error?.code).not.toBe(-32_603);
      }),
      { numRuns: 60 },
    );
    expect(test.complaints).toEqual([]);
  });
});
