import { ApiError, type Environment } from '@svc/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createExchange, fixedRates, type Rates } from './exchange.ts';
import { getUsdAmountHandler } from './module.ts';

const noRates: Rates = {
  current: async () => {
    throw new ApiError('rate_unavailable');
  },
  ofLast: async () => {
    throw new ApiError('rate_unavailable');
  },
};
const exchange = createExchange({ development: fixedRates(), production: noRates });
const handle = getUsdAmountHandler(exchange);
const inPesos = (currencyAmount: string | number, environment: Environment = 'development') =>
  handle({ query: { currencyAmount, currency: 'MXN' }, environment });
const inDollars = (currencyAmount: string | number, environment: Environment = 'production') =>
  handle({ query: { currencyAmount, currency: 'USD' }, environment });

const REFUSAL = 'currencyAmount must be a plain decimal from 0 to 1000000000 with at most 6 decimals.';
/** Up to the largest amount, in millionths, as a number with at most six decimals. */
const amounts = fc.integer({ min: 0, max: 10 ** 15 }).map((micros) => micros / 1e6);

describe('the USD amount', () => {
  it('of pesos in development is at 18.50 a dollar', async () => {
    expect(await inPesos(185)).toBe(10);
    expect(await inPesos(100)).toBe(5.405405);
    expect(await inPesos('0.1')).toBe(0.005405);
    expect(await inPesos(0)).toBe(0);
    expect(await inPesos(1_000_000_000)).toBe(54054054.054054);
  });

  it('of pesos in development is at the rate that the operator set', async () => {
    const own = createExchange({ development: fixedRates('20'), production: noRates });
    expect(await own.usdAmount({ amount: 100, currency: 'MXN', environment: 'development' })).toBe(5_000_000n);
    expect(await own.ratesOfLast(10, 'development')).toEqual([{ mxnPerUsd: 20n * 10n ** 18n, source: 'fixed' }]);
  });

  it('of dollars is the same number, and needs no rate', async () => {
    await fc.assert(fc.asyncProperty(amounts, async (amount) => (await inDollars(amount)) === amount));
  });

  it('of pesos has at most 6 decimals', async () => {
    await fc.assert(
      fc.asyncProperty(amounts, async (amount) => {
        const usd = await inPesos(amount);
        expect(Number(usd.toFixed(6))).toBe(usd);
      }),
    );
  });

  it('is unavailable when there is no rate', async () => {
    await expect(inPesos(1, 'production')).rejects.toMatchObject({ code: 'rate_unavailable', status: 500 });
    await expect(exchange.ratesOfLast(10, 'production')).rejects.toMatchObject({ code: 'rate_unavailable' });
  });

  it.each([
    0.0000001,
    '0.0000001',
    '1.1234567',
    -1,
    '-1',
    1_000_000_000.1,
    '1000000000.000001',
    1e21,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    'NaN',
    '1e3',
    '0x10',
    '',
    ' 1',
    '1,5',
    '9'.repeat(99),
  ])('of %s is refused in either currency, and the field is named', async (amount) => {
    await expect(inPesos(amount)).rejects.toMatchObject({ code: 'invalid_request', status: 400, message: REFUSAL });
    await expect(inDollars(amount)).rejects.toMatchObject({ code: 'invalid_request', status: 400, message: REFUSAL });
  });
});

describe('the fixed rate', () => {
  it('must be a decimal above 0', () => {
    for (const text of ['0', '0.0', '-1', '18,5', '']) expect(() => fixedRates(text), text).toThrow(TypeError);
  });
});
