import { describe, expect, it } from 'vitest';
import { memoize } from './memoize.ts';

describe('memoize', () => {
  it('makes a value once and forgets the one that was not used for longest', () => {
    const made: string[] = [];
    const shout = memoize(2, (word: string) => {
      made.push(word);
      return word.toUpperCase();
    });
    expect(['a', 'b', 'a', 'c', 'a', 'b'].map(shout)).toEqual(['A', 'B', 'A', 'C', 'A', 'B']);
    expect(made).toEqual(['a', 'b', 'c', 'b']);
  });

  it('remembers zero and asks again after nothing', () => {
    const made: number[] = [];
    const answer = memoize(2, (key: number) => {
      made.push(key);
      return key === 0 ? 0n : undefined;
    });
    expect([0, 0, 1, 1].map(answer)).toEqual([0n, 0n, undefined, undefined]);
    expect(made).toEqual([0, 1, 1]);
  });

  it('tells inputs apart by their key, where one is given', () => {
    const made: string[] = [];
    const sum = memoize(
      2,
      ({ felts }: { felts: readonly bigint[] }) => {
        made.push(felts.join());
        return felts.length;
      },
      ({ felts }) => felts.join(),
    );
    expect([sum({ felts: [1n, 2n] }), sum({ felts: [1n, 2n] }), sum({ felts: [12n] })]).toEqual([2, 2, 1]);
    expect(made).toEqual(['1,2', '12']);
  });
});
