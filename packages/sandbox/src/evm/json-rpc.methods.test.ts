import { describe, expect, it } from 'vitest';
import { isPublic, MAX_LOG_BLOCKS, overLimit } from './json-rpc.ts';

const HEIGHT = 25_000;
const logs = (filter: unknown) => overLimit('eth_getLogs', [filter], HEIGHT);

describe('the methods that are open', () => {
  it('are those of a live node, none of the engine itself', () => {
    expect(isPublic('eth_call')).toBe(true);
    for (const method of ['hardhat_reset', 'evm_revert', 'debug_traceCall', 'eth_sendTransaction', 'toString']) {
      expect(isPublic(method)).toBe(false);
    }
  });
});

describe('a search for logs', () => {
  it.each([
    ['the newest block', {}],
    ['one block by its hash', { blockHash: '0x12', fromBlock: 'earliest' }],
    ['exactly as many blocks as it may', { fromBlock: '0x0', toBlock: `0x${(MAX_LOG_BLOCKS - 1).toString(16)}` }],
    ['the last blocks', { fromBlock: `0x${(HEIGHT - 5_000).toString(16)}` }],
    ['blocks that are still to come', { fromBlock: `0x${(HEIGHT - 1).toString(16)}`, toBlock: '0xffffff' }],
    ['something that only the engine understands', 'all'],
  ])('may look through %s', (_, filter) => {
    expect(logs(filter)).toBeUndefined();
  });

  it.each([
    ['one block too many', { fromBlock: '0x0', toBlock: `0x${MAX_LOG_BLOCKS.toString(16)}` }],
    ['the whole chain', { fromBlock: 'earliest' }],
    ['the whole chain and what is to come', { fromBlock: '0x0', toBlock: '0xffffffffffffffff' }],
  ])('may not look through %s', (_, filter) => {
    expect(logs(filter)).toMatchObject({ error: { code: -32_005 } });
  });
});
