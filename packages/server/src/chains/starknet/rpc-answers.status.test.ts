import { describe, expect, it } from 'vitest';
import { toStatus } from './rpc-answers.ts';

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
