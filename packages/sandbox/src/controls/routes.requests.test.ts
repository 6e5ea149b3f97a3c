import { ApiError } from '@svc/protocol';
import { describe, expect, it } from 'vitest';
import { readBlockTime, readFault, readMine, readPoolTerms, readReorganisation, readTime } from './routes.ts';

describe('controls', () => {
  it('mine one block unless told otherwise', () => {
    expect(readMine(undefined)).toEqual({ do: 'mine', blocks: 1 });
    expect(readMine({ blocks: 5 })).toEqual({ do: 'mine', blocks: 5 });
  });

  it('travel in time by an offset or a step, never both', () => {
    expect(readTime({ offsetSeconds: -60 })).toEqual({ do: 'set-time', offsetSeconds: -60 });
    expect(readTime({ increaseSeconds: 60 })).toEqual({ do: 'increase-time', seconds: 60 });
    for (const body of [{}, { offsetSeconds: 1, increaseSeconds: 1 }]) expect(() => readTime(body)).toThrow(ApiError);
  });

  it('read an order that happens once within the hour, or as often as it says', () => {
    expect(readFault({ kind: 'revert' })).toEqual({ kind: 'revert', count: 1, seconds: 3_600 });
    expect(readFault({ kind: 'slow', delayMs: 50, seconds: 9 })).toEqual({ kind: 'slow', delayMs: 50, seconds: 9 });
    expect(readFault({ kind: 'stale', blocks: 2, count: 3, method: 'starknet_call' })).toEqual({
      kind: 'stale',
      blocks: 2,
      count: 3,
      method: 'starknet_call',
      seconds: 3_600,
    });
  });

  it("set the private pool's terms, and without a word none", () => {
    const none = { fee: 0n, shield_paused: false, lag_blocks: 0n };
    expect(readPoolTerms({})).toEqual({ do: 'set-pool-terms', terms: none });
    const all = { fee: 4n * 10n ** 18n, shield_paused: true, lag_blocks: 12n };
    expect(readPoolTerms({ fee: '4', shieldPaused: true, lagBlocks: 12 })).toEqual({
      do: 'set-pool-terms',
      terms: all,
    });
  });

  it.each([
    ['ask a fee below nothing', () => readPoolTerms({ fee: '-1' })],
    ['pause the pool by a text', () => readPoolTerms({ shieldPaused: 'yes' })],
    ['let the pool lag for ever', () => readPoolTerms({ lagBlocks: 1_001 })],
    ['mine 0 blocks', () => readMine({ blocks: 0 })],
    ['mine without end', () => readMine({ blocks: 1_001 })],
    ['mine a text', () => readMine({ blocks: '1' })],
    ['take a list for a body', () => readMine([])],
    ['wait a day for a block', () => readBlockTime({ seconds: 86_400 })],
    ['change the block time to nothing', () => readBlockTime({})],
    ['go back before the first day of time', () => readTime({ offsetSeconds: -4_000_000_000 })],
    ['reorganise everything', () => readReorganisation({ blocks: 101, transactions: 'drop' })],
    ['reorganise without a word on the transactions', () => readReorganisation({ blocks: 1 })],
    ['order an unknown fault', () => readFault({ kind: 'explode' })],
    ['order slowness without a measure', () => readFault({ kind: 'slow' })],
    ['order minutes of silence', () => readFault({ kind: 'slow', delayMs: 60_001 })],
    ['order an error without a code', () => readFault({ kind: 'error', message: 'x' })],
    ['order a reason that cannot be stored', () => readFault({ kind: 'revert', reason: 'a\0b' })],
    ['order a fault for ever', () => readFault({ kind: 'revert', seconds: 86_401 })],
  ])('do not %s', (_name, read) => {
    expect(read).toThrow(ApiError);
  });
});
