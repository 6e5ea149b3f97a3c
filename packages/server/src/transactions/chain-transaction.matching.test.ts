import { describe, expect, it } from 'vitest';
import { type ChainTransfer, matchTransfers } from './chain-transaction.ts';
import type { TransactionRecord } from './record.ts';

const record = (id: string, changes: Partial<TransactionRecord> = {}) =>
  ({
    id,
    tokenAddress: '0x01',
    senderAddress: '0x0a',
    destinationAddress: '0x0b',
    amount: 5n,
    ...changes,
  }) as TransactionRecord;
const transfer = (eventIndex: number, changes: Partial<ChainTransfer> = {}): ChainTransfer => ({
  token: 1n,
  from: 10n,
  to: 11n,
  amount: 5n,
  eventIndex,
  ...changes,
});
const matched = (records: TransactionRecord[], transfers: ChainTransfer[]) =>
  [...matchTransfers(records, transfers)].map(([{ id }, { eventIndex }]) => [id, eventIndex]);

describe('records and transfers', () => {
  it('belong together when token, sender, recipient and amount are the same', () => {
    const different = [
      transfer(1, { token: 2n }),
      transfer(2, { token: undefined }),
      transfer(3, { from: 9n }),
      transfer(4, { to: 9n }),
      transfer(5, { amount: 4n }),
    ];
    expect(matched([record('a')], different)).toEqual([]);
    expect(matched([record('a')], [...different, transfer(6)])).toEqual([['a', 6]]);
  });

  it('meet one to one: what was paid once does not count twice', () => {
    expect(matched([record('a'), record('b'), record('c')], [transfer(3), transfer(7)])).toEqual([
      ['a', 3],
      ['b', 7],
    ]);
  });

  it('know the chain’s own coin, which has no token', () => {
    const coin = record('a', { tokenAddress: undefined });
    expect(matched([coin], [transfer(1), transfer(2, { token: undefined })])).toEqual([['a', 2]]);
  });
});
