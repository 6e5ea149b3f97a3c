import { describe, expect, it } from 'vitest';
import { readRetryAfter } from './delivery-attempt.ts';

const NOW = Date.UTC(2026, 10, 16, 10, 0, 0);

describe('a Retry-After header', () => {
  it.each([
    ['120', 120_000],
    ['0', 0],
    [' 7 ', 7_000],
    ['Mon, 16 Nov 2026 10:02:00 GMT', 120_000],
    ['Monday, 16-Nov-26 10:02:00 GMT', 120_000],
    ['Mon Nov 16 10:02:00 2026', 120_000],
    ['Mon, 16 Nov 2026 09:00:00 GMT', 0],
  ])('%j asks for %i ms', (text, ms) => {
    expect(readRetryAfter(text, NOW)).toBe(ms);
  });

  it.each([undefined, '', 'soon', '-5', '1.5', '1e9', '2026-11-16T10:02:00Z', 'NaN', '9'.repeat(100)])(
    '%j asks for nothing',
    (text) => {
      expect(readRetryAfter(text, NOW)).toBe(0);
    },
  );

  it('with more digits than a number holds asks for very long, not for nonsense', () => {
    expect(readRetryAfter('9'.repeat(60), NOW)).toBeGreaterThan(1e60);
  });
});
