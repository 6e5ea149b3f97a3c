import { describe, expect, it } from 'vitest';
import { formatMoney, formatRelative } from './values.tsx';

describe('money', () => {
  it.each([
    ['9499.5', 'USD', '$9,499.50'],
    ['0', 'USD', '$0.00'],
    ['-12', 'USD', '-$12.00'],
    ['0.000001', 'USD', '$0.000001'],
    ['25', 'USDC', '25\u00a0USDC'],
    ['2.5', 'USDC', '2.50\u00a0USDC'],
    [
      '123456789012345678901234.123456789012345678',
      'STRK',
      '123,456,789,012,345,678,901,234.123456789012345678\u00a0STRK',
    ],
  ])('%s %s is shown as %s, with every digit', (amount, unit, shown) => {
    expect(formatMoney(amount, unit, 'en')).toBe(shown);
  });

  it('shows the sign of a movement', () => {
    expect([formatMoney('5', 'USD', 'en', { signed: true }), formatMoney('0', 'USD', 'en', { signed: true })]).toEqual([
      '+$5.00',
      '$0.00',
    ]);
  });
});

describe('a time', () => {
  const now = Date.parse('2026-11-17T12:00:00Z');
  it.each([
    ['2026-11-17T11:59:50Z', 'now'],
    ['2026-11-17T11:55:00Z', '5 minutes ago'],
    ['2026-11-17T15:00:00Z', 'in 3 hours'],
    ['2026-11-15T11:00:00Z', '2 days ago'],
    ['2026-10-01T11:00:00Z', '1 Oct 2026'],
  ])('%s is %s', (moment, shown) => {
    expect(formatRelative(new Date(moment), now, 'en')).toBe(shown);
  });

  it('is told in Spanish too', () => {
    expect(formatRelative(new Date('2026-11-17T11:55:00Z'), now, 'es')).toBe('hace 5 minutos');
  });
});
