import type { Environment } from '@svc/protocol';
import { type AddressGuard, trusted } from '../../outbound/address-guard.ts';
import { isForbiddenAddress } from '../../outbound/forbidden-addresses.ts';
import { createHttpProvider } from './http-provider.ts';
import type { Providers } from './provider.ts';
import type { FulfilmentAccess } from './settings.ts';

/** Who delivers in an environment, and with which secret; undefined where nobody does. */
export type Fulfilment = (environment: Environment) => FulfilmentAccess | undefined;

/** Production is delivered by the operator's fulfilment service, development by the sandbox, over one protocol. */
export function createProviders(fulfilment: Fulfilment): Providers {
  return (environment) => {
    const access = fulfilment(environment);
    const guard = environment === 'production' ? encryptedOutside() : trusted();
    return access && createHttpProvider(access, { guard });
  };
}

/** The operator vouches for the address; where it leads onto the public internet, TLS is insisted on. */
export function encryptedOutside(): AddressGuard {
  const { lookup } = trusted();
  return { lookup, allows: (address, { protocol }) => protocol === 'https:' || isForbiddenAddress(address) };
}
