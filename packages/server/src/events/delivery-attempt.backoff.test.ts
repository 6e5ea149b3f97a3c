import { describe, expect, it } from 'vitest';
import { retryDelayMs } from './delivery-attempt.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

describe('the schedule', () => {
  it.each([
    [1, 5 * SECOND],
    [2, 5 * MINUTE],
    [3, 30 * MINUTE],
    [4, 2 * HOUR],
    [5, 5 * HOUR],
    [6, 10 * HOUR],
    [7, 14 * HOUR],
    [8, 20 * HOUR],
    [9, 24 * HOUR],
  ])('after attempt %i waits %i ms, and at most a tenth more', (attempts, delayMs) => {
    expect(retryDelayMs(attempts, 0, () => 0)).toBe(delayMs);
    expect(retryDelayMs(attempts, 0, () => 1)).toBeCloseTo(1.1 * delayMs, 3);
  });

  it('ends after the tenth attempt, also with a Retry-After', () => {
    expect(retryDelayMs(10, 0, () => 0)).toBeUndefined();
    expect(retryDelayMs(10, HOUR, () => 0)).toBeUndefined();
  });

  it('waits for as long as was asked for, but no less than it would, and a day at most', () => {
    expect(retryDelayMs(1, HOUR, () => 0)).toBe(HOUR);
    expect(retryDelayMs(2, SECOND, () => 0)).toBe(5 * MINUTE);
    expect(retryDelayMs(1, 25 * HOUR, () => 0)).toBe(24 * HOUR);
    expect(retryDelayMs(1, Number.POSITIVE_INFINITY, () => 0)).toBe(24 * HOUR);
  });
});
