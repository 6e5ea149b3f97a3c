import { expect, it } from 'vitest';
import { pollDelayMs } from './follow-burn.ts';

it.each([
  [true, 0, 2_000],
  [true, 8_000, 2_000],
  [true, 20_000, 5_000],
  [true, 3_600_000, 15_000],
  [false, 0, 2_000],
  [false, 60_000, 15_000],
  [false, 28_800_000, 180_000],
])('fast %s, after %d ms: again in %d', (fast, ageMs, next) => {
  expect(pollDelayMs(fast, ageMs)).toBe(next);
});
