import type { Handlers } from '../http/call.ts';
import { getUsdAmountHandler } from './get-usd-amount.ts';
import type { Exchange } from './service.ts';

export function exchangeHandlers(exchange: Exchange): Pick<Handlers, 'getUsdAmount'> {
  const getUsdAmount = getUsdAmountHandler(exchange);
  return { getUsdAmount: ({ query, caller }) => getUsdAmount({ query, environment: caller.environment }) };
}
