import { describe, expect, it } from 'vitest';
import { parseMoment } from './moment.ts';

const read = (text: string) => {
  const moment = parseMoment(text);
  return moment.ok ? moment.value.toISOString() : moment.reason;
};

describe('a moment', () => {
  it.each([
    ['2026-12-01T00:00:00Z', '2026-12-01T00:00:00.000Z'],
    ['2026-12-01T00:00:00.123456Z', '2026-12-01T00:00:00.123Z'],
    ['2026-12-01T00:00Z', '2026-12-01T00:00:00.000Z'],
    ['2026-12-01T00:00:00-06:00', '2026-12-01T06:00:00.000Z'],
    ['2026-12-01T00:00:00+14:00', '2026-11-30T10:00:00.000Z'],
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
    ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59.000Z'],
    ['1970-01-01', '1970-01-01T00:00:00.000Z'],
  ])('is read from %s', (text, expected) => expect(read(text)).toBe(expected));

  it.each([
    '',
    'tomorrow',
    '1767225600000',
    '2026-12-1',
    '2026-12-01T00:00:00',
    '2026-12-01 00:00:00Z',
    '2026-12-01T24:00:00Z',
    '2026-12-01T23:59:60Z',
    '2026-12-01T00:00:00+25:00',
    '2026-13-01',
    '2026-00-10',
    '2026-02-30',
    '2027-02-29T00:00:00Z',
    '+12026-12-01',
    '2026-12-01Z',
  ])('is not read from "%s"', (text) => expect(read(text)).toMatch(/^must be a date-time/));

  it.each(['1969-12-31', '0000-01-01', '9999-12-31T23:59:59-01:00', '1970-01-01T00:00:00+01:00'])(
    'does not lie in other times: %s',
    (text) => expect(read(text)).toBe('must lie in the years 1970 to 9999'),
  );
});
