import { describe, expect, it } from 'vitest';
import { readBlock, readEstimate, readEventPage, readHead, readReceipt, toStatus } from './rpc-answers.ts';

describe('the status of a transaction', () => {
  it.each([
    ['RECEIVED', undefined, 'RECEIVED', false],
    ['CANDIDATE', undefined, 'PENDING', false],
    ['PRE_CONFIRMED', 'SUCCEEDED', 'PENDING', false],
    ['PRE_CONFIRMED', 'REVERTED', 'REVERTED', false],
    ['ACCEPTED_ON_L2', 'SUCCEEDED', 'ACCEPTED_ON_L2', true],
    ['ACCEPTED_ON_L2', 'REVERTED', 'REVERTED', true],
    ['ACCEPTED_ON_L1', 'SUCCEEDED', 'ACCEPTED_ON_L1', true],
    ['ACCEPTED_ON_L1', 'REVERTED', 'REVERTED', true],
  ])('%s and %s is %s', (finality, execution, status, accepted) => {
    expect(toStatus(finality, execution, 'why')).toEqual({
      status,
      accepted,
      revertReason: status === 'REVERTED' ? 'why' : undefined,
    });
  });

  it('of an unknown kind is not guessed', () => {
    expect(() => toStatus('SOMETHING_NEW', 'SUCCEEDED', undefined)).toThrow('SOMETHING_NEW');
  });
});

describe('an answer', () => {
  const receipt = {
    ...{ transaction_hash: '0x1', finality_status: 'PRE_CONFIRMED', execution_status: 'SUCCEEDED', events: [] },
    actual_fee: { amount: '0x7', unit: 'FRI' },
  };

  it.each([
    ['a head without its number', () => readHead({ block_hash: '0x1' })],
    ['a block whose number is text', () => readBlock({ block_hash: '0x1', block_number: '7' })],
    ['a receipt without events', () => readReceipt({ ...receipt, events: undefined })],
    ['a receipt whose fee is a number', () => readReceipt({ ...receipt, actual_fee: { amount: 7 } })],
    ['no estimate', () => readEstimate(undefined)],
    ['events without a list', () => readEventPage({ events: {} })],
  ])('of another shape is refused: %s', (_, read) => {
    expect(read).toThrow(TypeError);
  });

  it('may leave out what is not there, or write null', () => {
    expect(readEventPage({ events: [], continuation_token: null }).next).toBeUndefined();
    const open = readReceipt({ ...receipt, block_number: 5, block_hash: null, revert_reason: null });
    expect(open).toMatchObject({ status: 'PENDING', blockNumber: undefined, blockHash: undefined, fee: 7n });
  });
});
