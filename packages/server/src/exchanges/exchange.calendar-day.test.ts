import { describe, expect, it } from 'vitest';
import { calendarDay, daysSince, parseIsoDay } from './exchange.ts';

describe('calendar days', () => {
  it('are read when they exist', () => {
    expect(parseIsoDay('2026-07-17')).toBe('2026-07-17');
    expect(parseIsoDay('2028-02-29')).toBe('2028-02-29');
    expect(calendarDay('2026', '01', '31')).toBe('2026-01-31');
  });

  it('are refused when they do not exist or are written otherwise', () => {
    for (const text of [
      '2026-02-29',
      '2026-02-31',
      '2026-13-01',
      '2026-00-10',
      '2026-7-17',
      '17/07/2026',
      '',
      '2026',
    ]) {
      expect(parseIsoDay(text), text).toBeUndefined();
    }
  });

  it('count from their beginning in UTC', () => {
    expect(daysSince('2026-07-17', Date.parse('2026-07-17T23:59:59Z'))).toBe(0);
    expect(daysSince('2026-07-17', Date.parse('2026-07-22T00:00:00Z'))).toBe(5);
    expect(daysSince('2026-07-17', Date.parse('2026-07-16T12:00:00Z'))).toBe(-1);
  });
});
