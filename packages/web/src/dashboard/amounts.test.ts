import { expect, it } from 'vitest';
import { withDecimals } from './amounts.tsx';

it.each([
  ['1500000', 6, '1.5'],
  ['1', 18, '0.000000000000000001'],
  ['0', 6, '0'],
  ['123456789012345678901234567890', 18, '123456789012.34567890123456789'],
  ['7', 0, '7'],
])('shows %s with %i decimals as %s', (raw, decimals, shown) => {
  expect(withDecimals(raw, decimals)).toBe(shown);
});
