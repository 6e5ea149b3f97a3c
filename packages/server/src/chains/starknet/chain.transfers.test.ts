import { describe, expect, it } from 'vitest';
import { readTransfer, TRANSFER_SELECTOR, transfersIn } from './chain.ts';

const [TOKEN, ANA, LUIS] = [0x70ce, 0xa, 0xb].map(BigInt) as [bigint, bigint, bigint];
const moved = { token: TOKEN, from: ANA, to: LUIS, amount: 5n + (2n << 128n) };

describe('a Transfer event', () => {
  it('is read with its parties among the keys', () => {
    const event = { from: TOKEN, keys: [TRANSFER_SELECTOR, ANA, LUIS], data: [5n, 2n] };
    expect(readTransfer(event)).toEqual(moved);
  });

  it('is read with its parties in the data', () => {
    const event = { from: TOKEN, keys: [TRANSFER_SELECTOR], data: [ANA, LUIS, 5n, 2n] };
    expect(readTransfer(event)).toEqual(moved);
  });

  it.each([
    ['another event', [1n, ANA, LUIS], [5n, 0n]],
    ['no event', [], [ANA, LUIS, 5n, 0n]],
    ['a transfer of one thing (ERC-721)', [TRANSFER_SELECTOR, ANA, LUIS, 5n, 0n], []],
    ['one party among the keys', [TRANSFER_SELECTOR, ANA], [LUIS, 5n, 0n]],
    ['half an amount', [TRANSFER_SELECTOR, ANA, LUIS], [5n]],
    ['too much data', [TRANSFER_SELECTOR], [ANA, LUIS, 5n, 0n, 0n]],
    ['a low word that is too wide', [TRANSFER_SELECTOR, ANA, LUIS], [2n ** 128n, 0n]],
    ['a high word that is too wide', [TRANSFER_SELECTOR, ANA, LUIS], [0n, 2n ** 128n]],
  ])('is not found in %s', (_, keys, data) => {
    expect(readTransfer({ from: TOKEN, keys, data })).toBeUndefined();
  });

  it('is told with its place among all events of the receipt', () => {
    const events = [
      { from: TOKEN, keys: [1n], data: [] },
      { from: TOKEN, keys: [TRANSFER_SELECTOR, ANA, LUIS], data: [5n, 2n] },
      { from: TOKEN, keys: [TRANSFER_SELECTOR], data: [ANA, LUIS, 5n, 2n] },
    ];
    expect(transfersIn({ events })).toEqual([
      { ...moved, eventIndex: 1 },
      { ...moved, eventIndex: 2 },
    ]);
  });
});
