import { type Currency, type Environment, usdToNumber } from '@svc/protocol';
import type { Module } from '../http/module.ts';
import type { Exchange } from './exchange.ts';

export function create({ exchange }: { readonly exchange: Exchange }): Module<'getUsdAmount'> {
  const getUsdAmount = getUsdAmountHandler(exchange);
  return {
    handlers: { getUsdAmount: ({ query, caller }) => getUsdAmount({ query, environment: caller.environment }) },
  };
}

export interface UsdAmountRequest {
  readonly query: { readonly currencyAmount: string | number; readonly currency: Currency };
  readonly environment: Environment;
}

export function getUsdAmountHandler(exchange: Exchange): (request: UsdAmountRequest) => Promise<number> {
  return async ({ query, environment }) =>
    usdToNumber(await exchange.usdAmount({ amount: query.currencyAmount, currency: query.currency, environment }));
}
