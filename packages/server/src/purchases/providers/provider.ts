import type { Currency, Environment } from '@svc/protocol';

export type SkuCatalogue = 'deployment' | 'organization';

/** What a provider is asked to deliver. The id makes repeating it safe: it is one order however often it is sent. */
export interface ProviderOrder {
  /** The purchase's. */
  readonly orderId: string;
  readonly organizationId: string;
  readonly environment: Environment;
  /** Whose service it is: the price of one that the organisation sells itself is the organisation's own word. */
  readonly catalogue: SkuCatalogue;
  readonly providerId: string;
  readonly skuId: string;
  readonly reference: string;
  /** A plain decimal, exact. */
  readonly amount: string;
  readonly currency: Currency;
}

/** `accepted`: it will be delivered, and the result comes later, by callback or when it is asked for. */
export type OrderResult =
  | { readonly state: 'completed'; readonly fileNumber: string }
  | { readonly state: 'failed'; readonly reason: string }
  | { readonly state: 'accepted' };

/**
 * Delivers what was bought. What throws leaves the outcome unknown: the order may or may not have arrived, and asking again with
 * the same id is the way to find out.
 */
export interface Provider {
  order(order: ProviderOrder, signal: AbortSignal): Promise<OrderResult>;
  /** What became of an order; `unknown` when the provider has never seen it. */
  lookUp(orderId: string, signal: AbortSignal): Promise<OrderResult | { readonly state: 'unknown' }>;
}

/** The provider of an environment; undefined where there is none. */
export type Providers = (environment: Environment) => Provider | undefined;
