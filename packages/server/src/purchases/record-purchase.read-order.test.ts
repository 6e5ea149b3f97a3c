import type { ErrorCode } from '@svc/protocol';
import { describe, expect, it } from 'vitest';
import type { SkuRow } from '../skus/skus.ts';
import { readAmount, requireFit } from './record-purchase.ts';

const at = new Date(0);
const sku: SkuRow = {
  id: 'agua',
  provider_id: 'p',
  name: 'Agua',
  description: null,
  category: 'RECARGAS',
  reference_pattern: '^\\d{10}$',
  reference_label: '10 dígitos',
  amount_pattern: '^\\d{2,4}(\\.\\d{1,2})?$',
  amount_label: 'de 10 a 9,999',
  fixed_amount: null,
  currency: 'MXN',
  can_check_reference: false,
  logo_url: null,
  created_at: at,
  updated_at: at,
};
const REFERENCE = '5512345678';

function fit(currencyAmount: number, changes: Partial<SkuRow> = {}, reference = REFERENCE): ErrorCode | 'fits' {
  try {
    requireFit({ ...sku, ...changes }, reference, readAmount({ currencyAmount }));
    return 'fits';
  } catch (error) {
    return (error as { code: ErrorCode }).code;
  }
}

describe('an amount', () => {
  it.each([
    [100, '100', 100_000_000n],
    [100.5, '100.5', 100_500_000n],
    [0.01, '0.01', 10_000n],
    [19.99, '19.99', 19_990_000n],
    [1_000_000_000, '1000000000', 1_000_000_000_000_000n],
  ])('of %d is read exactly', (currencyAmount, text, micros) => {
    expect(readAmount({ currencyAmount })).toMatchObject({ text, micros });
  });

  it.each([0.001, 0.1 + 0.2, 1e-7, 1e21, 1_000_000_000.01, Number.MAX_VALUE, -1, 0, Number.NaN])(
    'of %d is refused, never rounded',
    (currencyAmount) => {
      expect(() => readAmount({ currencyAmount })).toThrow(expect.objectContaining({ code: 'invalid_amount' }));
    },
  );
});

describe('a service takes', () => {
  it('a reference of its form only, whole', () => {
    expect(fit(100)).toBe('fits');
    for (const reference of [
      '551234567',
      '55123456789',
      '551234567a',
      `${REFERENCE}\n`,
      `x${REFERENCE}`,
      '٣٣٣٣٣٣٣٣٣٣',
    ]) {
      expect(fit(100, {}, reference), reference).toBe('invalid_reference');
    }
  });

  it('an amount of its form only', () => {
    for (const amount of [10, 9_999, 50.5, 50.55]) expect(fit(amount), String(amount)).toBe('fits');
    for (const amount of [9, 10_000, 9.99, 0.5]) expect(fit(amount), String(amount)).toBe('invalid_amount');
  });

  it('an amount whose pattern wants both decimals, which a number does not have', () => {
    const amount_pattern = '^\\d+\\.\\d{2}$';
    for (const amount of [100, 100.5, 100.55]) expect(fit(amount, { amount_pattern }), String(amount)).toBe('fits');
  });

  it('its fixed amount and no other, compared as decimals', () => {
    for (const fixed_amount of ['100', '100.00', '100.000000']) {
      expect(fit(100, { fixed_amount }), fixed_amount).toBe('fits');
      for (const amount of [100.01, 99.99, 10]) expect(fit(amount, { fixed_amount })).toBe('invalid_amount');
    }
    expect(fit(7.99, { fixed_amount: '7.99', amount_pattern: '^7\\.99$' })).toBe('fits');
    expect(fit(100, { fixed_amount: '100.001' })).toBe('invalid_amount');
  });
});
