import { encodeAbiParameters, encodeEventTopics, erc20Abi, type Hex } from 'viem';
import { describe, expect, it } from 'vitest';
import { transfersOf } from './evm-chain.ts';

const [ana, luis, token] = (['a1', 'b2', 'c3'] as const).map((pair): Hex => `0x${pair.repeat(20)}`);
if (!ana || !luis || !token) throw new Error('An account has no address.');

const log = (eventName: 'Transfer' | 'Approval', logIndex: number) => ({
  address: token,
  topics: encodeEventTopics({
    abi: erc20Abi,
    eventName,
    args: eventName === 'Transfer' ? { from: ana, to: luis } : { owner: ana, spender: luis },
  }) as [Hex, ...Hex[]],
  data: encodeAbiParameters([{ type: 'uint256' }], [5n]),
  logIndex,
  blockHash: `0x${'0b'.repeat(32)}` as const,
  blockNumber: 7n,
  blockTimestamp: 1n,
  transactionHash: `0x${'0c'.repeat(32)}` as const,
  transactionIndex: 3,
  removed: false as const,
});

describe('the transfers of a receipt', () => {
  it('have their logs’ places in the receipt, wherever the transaction stands in its block', () => {
    const placesAt = (first: number) =>
      transfersOf(
        { from: ana, to: token, value: 0n },
        { status: 'success', logs: [log('Approval', first), log('Transfer', first + 1), log('Transfer', first + 2)] },
      ).map(({ logIndex }) => logIndex);
    expect(placesAt(40)).toEqual([1, 2]);
    expect(placesAt(0)).toEqual([1, 2]);
  });
});
