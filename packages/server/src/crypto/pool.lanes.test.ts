import { describe, expect, it } from 'vitest';
import { Lanes, MAX_WAITING } from './pool.ts';

describe('what waits', () => {
  it('goes in order, the urgent before all others', () => {
    const lanes = new Lanes<string>();
    for (const item of ['a', 'b']) lanes.add('ordinary', item);
    for (const item of ['A', 'B']) lanes.add('urgent', item);
    expect(lanes.size).toBe(4);
    expect([lanes.next(), lanes.next(), lanes.next(), lanes.next(), lanes.next()]).toEqual([
      'A',
      'B',
      'a',
      'b',
      undefined,
    ]);
  });

  it('has a bound in each lane, and a full one leaves the other open', () => {
    const lanes = new Lanes<number>();
    for (let i = 0; i < MAX_WAITING; i++) expect(lanes.add('ordinary', i)).toBe(true);
    expect(lanes.add('ordinary', MAX_WAITING)).toBe(false);
    expect(lanes.add('urgent', -1)).toBe(true);
    expect(lanes.size).toBe(MAX_WAITING + 1);
  });

  it('is gone once it was cleared', () => {
    const lanes = new Lanes<string>();
    lanes.add('ordinary', 'a');
    lanes.add('urgent', 'A');
    expect(lanes.clear()).toEqual(['A', 'a']);
    expect(lanes.size).toBe(0);
  });
});
