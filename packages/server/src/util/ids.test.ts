import { describe, expect, it } from 'vitest';
import { laneOf, newId } from './ids.ts';

const MOMENT = Date.parse('2026-03-14T15:09:26.535Z');

describe('a new identifier', () => {
  it('is its kind, the time and a random part, in lower case', () => {
    expect(newId('org', MOMENT)).toMatch(/^org_[0-9a-hjkmnp-tv-z]{26}$/);
    expect(newId('org', MOMENT).slice(4, 14)).toBe(newId('key', MOMENT).slice(4, 14));
    expect(newId('org', MOMENT) < newId('org', MOMENT + 1)).toBe(true);
  });

  it('is greater than those made before it in the same millisecond, by a random step', () => {
    const ids = Array.from({ length: 1_000 }, () => newId('txn', MOMENT + 2));
    expect(ids).toEqual(ids.toSorted());
    expect(new Set(ids.map((id) => id.slice(-8))).size).toBe(ids.length);
  });

  it('begins anew with every millisecond', () => {
    const parts = Array.from({ length: 100 }, (_, index) => newId('txn', MOMENT + 10 + index).slice(14, 20));
    expect(parts).not.toEqual(parts.toSorted());
  });
});

it('ids spread over all lanes, and an empty one has the first', () => {
  const lanes = Array.from({ length: 500 }, () => laneOf(newId('rdm'), 8));
  expect(new Set(lanes)).toEqual(new Set([0, 1, 2, 3, 4, 5, 6, 7]));
  expect(laneOf('', 8)).toBe(0);
});
