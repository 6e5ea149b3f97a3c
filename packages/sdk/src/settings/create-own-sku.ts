import type { Currency, endpoints, OfferedSku, SkuCategory } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { request } from '../client/request.ts';

/** What describes a service to those who buy it. */
export interface OwnSkuFields {
  /** Whom your fulfilment service orders it from. */
  readonly providerId: string;
  readonly name: string;
  readonly category: SkuCategory;
  /** What references must match, in the syntax of RE2. */
  readonly referenceRegexValidation: string;
  readonly referenceLabel: string;
  /** What amounts must match, `fixedAmount` too. */
  readonly amountRegexValidation: string;
  readonly amountLabel: string;
  readonly currency: Currency;
  readonly canCheckSkuReference: boolean;
}

export interface CreateOwnSkuParams extends OwnSkuFields {
  /** At most 31 printable ASCII characters, a letter among them. */
  readonly id: string;
  readonly description?: string | undefined;
  /** Left out: the buyer chooses the amount. */
  readonly fixedAmount?: number | undefined;
  /** An https address. */
  readonly logoUrl?: string | undefined;
  /** Default: true. */
  readonly isOffered?: boolean | undefined;
}

/**
 * Adds a service of your own to those that your users see. On a server only: needs the secret key.
 *
 * @example
 * const sku = await svc.settings.createOwnSku({
 *   id: 'agua-recibo',
 *   providerId: 'agua-centro',
 *   name: 'Agua: pago de recibo',
 *   category: 'GENERAL',
 *   referenceRegexValidation: '^[0-9]{12}$',
 *   referenceLabel: 'Número de cuenta a 12 dígitos',
 *   amountRegexValidation: '^[1-9][0-9]{1,3}$',
 *   amountLabel: 'Importe del recibo',
 *   currency: 'MXN',
 *   canCheckSkuReference: true,
 * });
 */
export function createOwnSku(client: Client, params: CreateOwnSkuParams): Promise<OfferedSku> {
  return request<typeof endpoints.createOwnSku>(client, {
    route: 'POST /organization/skus',
    access: 'secret',
    body: params,
  });
}
