import type { ApiError } from '@svc/protocol';
import { describe, expect, it } from 'vitest';
import { ratesOf } from '../../testing/purchases.ts';
import { lowestPrice, PRICE_WINDOW_MINUTES, requireEnough } from './record-purchase.ts';

const pesos = (micros: bigint, ...rates: string[]) =>
  lowestPrice(ratesOf(...rates), { micros, currency: 'MXN', environment: 'production' });

describe('the price of a purchase', () => {
  it('is the lowest of the rates in force within the last ten minutes', async () => {
    expect(await pesos(185_000_000n, '18.5')).toBe(10_000_000n);
    expect(await pesos(185_000_000n, '18.5', '20', '17')).toBe(9_250_000n);
    expect(await pesos(185_000_000n, '17', '20', '18.5')).toBe(9_250_000n);
  });

  it('asks for the rates of ten minutes, of its own environment', async () => {
    const asked: unknown[] = [];
    const exchange = { ...ratesOf('20') };
    const ratesOfLast: typeof exchange.ratesOfLast = (...args) => {
      asked.push(args);
      return exchange.ratesOfLast(...args);
    };
    await lowestPrice({ ratesOfLast }, { micros: 1n, currency: 'MXN', environment: 'production' });
    expect(asked).toEqual([[10, 'production']]);
    expect(PRICE_WINDOW_MINUTES).toBe(10);
  });

  it('is exact in dollars, and needs no rate', async () => {
    const exchange = { ratesOfLast: () => Promise.reject(new Error('Nobody needs a rate.')) };
    expect(await lowestPrice(exchange, { micros: 7_990_000n, currency: 'USD', environment: 'production' })).toBe(
      7_990_000n,
    );
  });

  it('is unknown without a rate', async () => {
    await expect(pesos(1n)).rejects.toMatchObject({ code: 'rate_unavailable' });
  });
});

const USDC = { token: 'USDC', decimals: 6 } as const;
const DAI = { token: 'DAI', decimals: 18 } as const;

function message(paid: bigint, token: typeof USDC | typeof DAI, price: bigint): string {
  try {
    requireEnough(paid, token, price);
  } catch (error) {
    expect(error).toMatchObject({ code: 'payment_too_small', status: 400 });
    return (error as ApiError).message;
  }
  throw new Error('It was enough.');
}

describe('a payment', () => {
  it.each([
    ['the price', 10_000_000n, USDC, 10_000_000n],
    ['more', 10_000_001n, USDC, 10_000_000n],
    ['99 % to the unit', 9_900_000n, USDC, 10_000_000n],
    ['99 % of a price that has no such unit, rounded up', 100n, USDC, 101n],
    ['99 % to the last of 18 decimals', 9_900_000n * 10n ** 12n, DAI, 10_000_000n],
    ['99 % of an odd price in 18 decimals', 99_990_000_000_000n, DAI, 101n],
  ])('of %s is enough', (_, paid, token, price) => {
    expect(() => requireEnough(paid, token, price)).not.toThrow();
  });

  it.each([
    ['a unit less than 99 %', 9_899_999n, USDC, 10_000_000n],
    ['99 % of a price that has no such unit, rounded down', 99n, USDC, 101n],
    ['the last of 18 decimals less', 9_900_000n * 10n ** 12n - 1n, DAI, 10_000_000n],
    ['nothing', 0n, USDC, 1n],
    ['as many units of another size', 9_900_000n, DAI, 10_000_000n],
  ])('of %s is too small', (_, paid, token, price) => {
    message(paid, token, price);
  });

  it('that is too small is refused with what was paid and what is needed', () => {
    expect(message(9_899_999n, USDC, 10_000_000n)).toBe(
      'The payment is 9.899999 USDC, and 9.9 are needed: 99 % of 10 USD, the lowest price of the last 10 minutes.',
    );
    expect(message(1n, DAI, 101n)).toContain('0.000000000000000001 DAI, and 0.0001 are needed');
  });
});
