import type { Currency, endpoints } from '@svc/protocol';
import type { BearerToken, Client } from './client/client.ts';
import { request } from './client/request.ts';

export interface GetUsdAmountParams {
  readonly currencyAmount: number;
  readonly currency: Currency;
}

/**
 * Converts an amount to USD at the current rate, with at most 6 decimals. The rate may change between two calls.
 *
 * @example
 * const usd = await svc.getUsdAmount({ currencyAmount: 100, currency: 'MXN' });
 */
export function getUsdAmount(
  client: Client,
  { currencyAmount, currency }: GetUsdAmountParams,
  bearerToken?: BearerToken,
): Promise<number> {
  return request<typeof endpoints.getUsdAmount>(client, {
    route: 'GET /exchanges/usd-amount',
    access: 'both',
    query: { currencyAmount, currency },
    bearerToken,
  });
}
