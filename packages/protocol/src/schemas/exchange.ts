import { Type } from 'typebox';
import { CurrencyName } from './transaction.ts';

/** Below a billion, a JSON number has six exact decimals. */
export const MAX_CURRENCY_AMOUNT = 1_000_000_000;

export const UsdAmountQuery = Type.Object({
  currencyAmount: Type.Number({ minimum: 0, maximum: MAX_CURRENCY_AMOUNT }),
  currency: CurrencyName,
});

export const UsdAmount = Type.Number({ description: 'The USD amount, at most 6 decimals', examples: [5.405405] });
